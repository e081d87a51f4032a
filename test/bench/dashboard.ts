// `npm run bench:dashboard`: the CPU time of `nlc controller` with two open dashboards, and without, in turns, on the stub of the API
// server of `large-cluster`: 2,000 nodes that renew their leases. Figures are printed and not checked.
// `-- --nodes=N --seconds=N --rounds=N`.
import { type ChildProcess, fork, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, openSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { freePorts } from '../../src/cli/simulation/programs/free-ports.ts';
import { waitUntil } from '../control-plane/wait-until.ts';
import type { StubMessage } from './large-cluster/stub-protocol.ts';
import { describeMachine } from './describe-machine.ts';
import { processFigures } from './process-figures.ts';

const { values } = parseArgs({
  options: {
    nodes: { type: 'string', default: '2000' },
    seconds: { type: 'string', default: '30' },
    rounds: { type: 'string', default: '3' },
  },
});
const nodes = Number(values.nodes);
const seconds = Number(values.seconds);
const dashboards = 2;
/** Leadership, the first pass, and what is compiled first. */
const settleMs = 45_000;

const folder = mkdtempSync(join(tmpdir(), 'nlc-dashboard-'));
const [metricsPort = 0, healthPort = 0] = await freePorts(2);
const stub = fork(join(import.meta.dirname, 'large-cluster', 'stub-api-server.ts'));
let controller: ChildProcess | undefined;
try {
  const port = await startStub();
  controller = startController(port);
  const pid = controller.pid ?? -1;
  await waitUntil('caches in sync', { timeoutMs: 120_000 }, async () => {
    const response = await fetch(`http://127.0.0.1:${healthPort}/readyz`).catch(() => undefined);
    return response?.ok === true;
  });
  await sleep(settleMs);
  await measure(pid);
} finally {
  controller?.kill('SIGKILL');
  if (stub.connected) stub.disconnect();
  rmSync(folder, { recursive: true, force: true });
}

async function startStub(): Promise<number> {
  stub.send({
    kind: 'start',
    nodes,
    pods: nodes * 10,
    renewalsPerSecond: nodes / 10,
    controller: `127.0.0.1:${metricsPort}`,
  });
  const [message] = (await once(stub, 'message')) as [StubMessage];
  if (message.kind !== 'listening') throw new Error(`the stub sent ${message.kind}`);
  return message.port;
}

function startController(port: number): ChildProcess {
  const kubeconfig = join(folder, 'kubeconfig');
  const cluster = { server: `http://127.0.0.1:${port}` };
  writeFileSync(
    kubeconfig,
    JSON.stringify({
      apiVersion: 'v1',
      kind: 'Config',
      clusters: [{ name: 'stub', cluster }],
      users: [{ name: 'stub', user: { token: 'none' } }],
      contexts: [{ name: 'stub', context: { cluster: 'stub', user: 'stub' } }],
      'current-context': 'stub',
    }),
  );
  const main = join(import.meta.dirname, '..', '..', 'src', 'cli', 'main.ts');
  const pages = [
    `--metrics-bind-address=127.0.0.1:${metricsPort}`,
    `--health-probe-bind-address=127.0.0.1:${healthPort}`,
  ];
  const output = openSync(join(folder, 'nlc.log'), 'a');
  return spawn(
    process.execPath,
    ['--max-semi-space-size=4', main, 'controller', `--kubeconfig=${kubeconfig}`, ...pages],
    {
      stdio: ['ignore', output, output],
    },
  );
}

async function measure(pid: number): Promise<void> {
  const shares: Record<'without' | 'with', number[]> = { without: [], with: [] };
  let received = 0;
  for (let round = 1; round <= Number(values.rounds); round += 1) {
    shares.without.push(await coresUsed(pid));
    const closing = new AbortController();
    const streams = Array.from({ length: dashboards }, () =>
      readEvents(closing.signal, (bytes) => (received += bytes)),
    );
    await sleep(2_000);
    shares.with.push(await coresUsed(pid));
    closing.abort();
    await Promise.all(streams);
    await sleep(2_000);
    console.log(
      `round ${round}: without ${percent(shares.without.at(-1))}, with ${percent(shares.with.at(-1))} of a core`,
    );
  }
  const [without, withTwo] = [mean(shares.without), mean(shares.with)];
  console.log(`\n${describeMachine()}`);
  console.log(`${nodes} nodes, ${nodes / 10} renewals per second, ${dashboards} dashboards, ${seconds} s each`);
  console.log(
    `without ${percent(without)}, with ${percent(withTwo)} of a core: ${((withTwo / without - 1) * 100).toFixed(1)} % more`,
  );
  console.log(
    `${(received / 1e3).toFixed(0)} KB were received; peak memory ${(processFigures(pid).peakRssBytes / 1e6).toFixed(0)} MB`,
  );
}

async function coresUsed(pid: number): Promise<number> {
  const [beforeSeconds, beganMs] = [processFigures(pid).cpuSeconds, performance.now()];
  await sleep(seconds * 1_000);
  return (processFigures(pid).cpuSeconds - beforeSeconds) / ((performance.now() - beganMs) / 1_000);
}

async function readEvents(signal: AbortSignal, onBytes: (bytes: number) => void): Promise<void> {
  try {
    const response = await fetch(`http://127.0.0.1:${metricsPort}/dashboard/events`, { signal });
    if (response.body === null || !response.ok) throw new Error(`/dashboard/events: ${response.status}`);
    for await (const chunk of response.body) onBytes(chunk.length);
  } catch (error) {
    if (!signal.aborted) throw error;
  }
}

function mean(all: readonly number[]): number {
  return all.reduce((sum, value) => sum + value, 0) / all.length;
}

function percent(cores = 0): string {
  return `${(cores * 100).toFixed(2)} %`;
}
