// Starts the stub and the controller, and samples the controller once a second.
import { type ChildProcess, fork, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { waitUntil } from '../../control-plane/wait-until.ts';
import { buildNlc, imageCommand } from '../build-nlc.ts';
import { processFigures } from '../process-figures.ts';
import type { Course, LoopSample, Sample } from './course.ts';
import type { Options } from './options.ts';
import type { StubCommand, StubMessage, StubReport } from './stub-protocol.ts';

const sampleMs = 1_000;
const syncTimeoutMs = 300_000;
/** After the caches are in sync: leadership and the first pass. */
const settleMs = 20_000;
const logTailLength = 2_000;

interface Ports {
  readonly metricsPort: number;
  readonly healthPort: number;
}

export async function measureLargeCluster(options: Options, ports: Ports): Promise<Course> {
  const folder = mkdtempSync(join(tmpdir(), 'nlc-large-cluster-'));
  const stub = fork(join(import.meta.dirname, 'stub-api-server.ts'));
  let controller: ChildProcess | undefined;
  try {
    const port = await startStub(stub, options, ports);
    const log = join(folder, 'nlc.log');
    const startedAtMs = performance.now();
    controller = startController(folder, log, { port, ...ports });
    return await observe({ options, stub, controller, startedAtMs, log, healthPort: ports.healthPort });
  } finally {
    controller?.kill('SIGKILL');
    if (stub.connected) stub.disconnect();
    rmSync(folder, { recursive: true, force: true });
  }
}

async function startStub(stub: ChildProcess, options: Options, { metricsPort }: Ports): Promise<number> {
  const { nodes, pods, rate: renewalsPerSecond } = options;
  command(stub, { kind: 'start', nodes, pods, renewalsPerSecond, controller: `127.0.0.1:${metricsPort}` });
  const message = await messageOf(stub);
  if (message.kind !== 'listening') throw new Error(`the stub sent ${message.kind}`);
  return message.port;
}

function startController(folder: string, log: string, ports: Ports & { readonly port: number }): ChildProcess {
  const kubeconfig = join(folder, 'kubeconfig');
  writeFileSync(kubeconfig, kubeconfigText(`http://127.0.0.1:${ports.port}`));
  const args = [
    'controller',
    `--kubeconfig=${kubeconfig}`,
    `--metrics-bind-address=127.0.0.1:${ports.metricsPort}`,
    `--health-probe-bind-address=127.0.0.1:${ports.healthPort}`,
  ];
  const [program, ...rest] = imageCommand(buildNlc(folder), args, [
    `--import=${join(import.meta.dirname, 'loop-probe.mjs')}`,
  ]);
  const output = openSync(log, 'a');
  return spawn(program, rest, { stdio: ['ignore', output, output, 'ipc'] });
}

function kubeconfigText(server: string): string {
  const name = 'stub';
  return JSON.stringify({
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name, cluster: { server } }],
    users: [{ name, user: { token: 'none' } }],
    contexts: [{ name, context: { cluster: name, user: name } }],
    'current-context': name,
  });
}

interface Observed {
  readonly options: Options;
  readonly stub: ChildProcess;
  readonly controller: ChildProcess;
  readonly startedAtMs: number;
  readonly log: string;
  readonly healthPort: number;
}

async function observe(observed: Observed): Promise<Course> {
  const { options, stub, controller, startedAtMs } = observed;
  const { nodes, pods, rate, seconds } = options;
  const secondsNow = (): number => (performance.now() - startedAtMs) / 1_000;
  const pid = controller.pid ?? -1;
  const loop: LoopSample[] = [];
  controller.on('message', (report: Omit<LoopSample, 'atSeconds'>) =>
    loop.push({ atSeconds: secondsNow(), ...report }),
  );
  const sampler = new Sampler(pid, secondsNow);
  const syncedAtSeconds = await synced(observed, secondsNow);
  console.error(`caches in sync after ${syncedAtSeconds.toFixed(1)} s`);
  await sleep(settleMs);
  const measuredFromSeconds = secondsNow();
  command(stub, { kind: 'measure' });
  await sleep(seconds * 1_000);
  if (controller.exitCode !== null) throw new Error(`nlc has ended: ${tailOf(observed.log)}`);
  const samples = sampler.stop();
  const { lags, ...rest } = await reportOf(stub);
  const startedAtUnixMs = performance.timeOrigin + startedAtMs;
  return {
    nodes,
    pods,
    rate,
    syncedAtSeconds,
    measuredFromSeconds,
    peakRssMb: processFigures(pid).peakRssBytes / 1e6,
    samples,
    loop,
    lags: lags.map(({ atMs, lagMs }) => ({ atSeconds: (atMs - startedAtUnixMs) / 1_000, lagMs })),
    stub: rest,
  };
}

async function synced({ controller, log, healthPort }: Observed, secondsNow: () => number): Promise<number> {
  return waitUntil('caches in sync', { timeoutMs: syncTimeoutMs, pollMs: 100 }, async () => {
    if (controller.exitCode !== null) throw new Error(`nlc has ended: ${tailOf(log)}`);
    const response = await fetch(`http://127.0.0.1:${healthPort}/readyz`).catch(() => undefined);
    return response?.ok === true ? secondsNow() : undefined;
  });
}

function tailOf(log: string): string {
  return readFileSync(log, 'utf8').slice(-logTailLength);
}

/** CPU and memory of a process, once a second. */
class Sampler {
  readonly #samples: Sample[] = [];
  readonly #timer: NodeJS.Timeout;

  constructor(pid: number, secondsNow: () => number) {
    let before = { atSeconds: secondsNow(), cpuSeconds: 0 };
    this.#timer = setInterval(() => {
      const { cpuSeconds, rssBytes } = processFigures(pid);
      const atSeconds = secondsNow();
      const cores = (cpuSeconds - before.cpuSeconds) / (atSeconds - before.atSeconds);
      this.#samples.push({ atSeconds, cores, rssMb: rssBytes / 1e6 });
      before = { atSeconds, cpuSeconds };
    }, sampleMs);
  }

  stop(): readonly Sample[] {
    clearInterval(this.#timer);
    return this.#samples;
  }
}

async function reportOf(stub: ChildProcess): Promise<StubReport> {
  command(stub, { kind: 'report' });
  const message = await messageOf(stub);
  if (message.kind !== 'report') throw new Error(`the stub sent ${message.kind}`);
  return message.report;
}

async function messageOf(stub: ChildProcess): Promise<StubMessage> {
  const ended = once(stub, 'exit').then(([code]) => {
    throw new Error(`the stub has ended with code ${String(code)}`);
  });
  const [message] = (await Promise.race([once(stub, 'message'), ended])) as [StubMessage];
  return message;
}

function command(stub: ChildProcess, sent: StubCommand): void {
  stub.send(sent);
}
