// `npm run bench:outage`: how long `nlc controller` and kube-controller-manager are without a leader, and a dead node stays
// Ready, after an outage of the API server in which the controller is restarted (docs/performance.md). Needs the control
// plane (`npm run control-plane`).
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { type ControlPlane, startControlPlane } from '../control-plane/control-plane.ts';
import { freePorts } from '../../src/cli/simulation/programs/free-ports.ts';
import { waitUntil } from '../control-plane/wait-until.ts';
import { type ElectedContender, electedContenders, holderOf } from './elected-contenders.ts';
import { FewNodes } from './few-nodes.ts';

const nodes = ['n1', 'n2', 'n3'] as const;
/** Dies with the API server. */
const deadNode = 'n1';
const settleMs = 10_000;
const graceSeconds = 20;
const timeoutMs = 180_000;
const pollMs = 100;

const { values } = parseArgs({ options: { away: { type: 'string', default: '45,150' } } });
console.log('| controller | API server away | leads after | dead node Unknown after |');
console.log('| --- | --- | --- | --- |');
for (const awaySeconds of values.away.split(',').map(Number))
  for (const contender of electedContenders(graceSeconds)) console.log(await measure(contender, awaySeconds));

async function measure(contender: ElectedContender, awaySeconds: number): Promise<string> {
  const { name } = contender;
  await using plane = await startControlPlane({
    apiServerArgs: ['--disable-admission-plugins=ServiceAccount,TaintNodesByCondition'],
  });
  const client = plane.client();
  const life = new AbortController();
  const kubelets = new FewNodes(client);
  for (const node of nodes) await kubelets.register(node);
  for (const node of nodes) if (node !== deadNode) kubelets.renew(node);
  const [program, ...args] = contender.command(plane, (await freePorts(1))[0] ?? 0);
  const first = await plane.startProgram(`${name}-1`, program, args);
  await waitUntil('a leader', { timeoutMs }, async () => (await holderOf(client, contender)) !== undefined);
  await sleep(settleMs);
  const former = await holderOf(client, contender);
  const stopped = plane.killApiServer();
  await Promise.all([stopped, first.kill()]);
  await sleep(awaySeconds * 500);
  // As a kubelet does, one that ends because no API server answers is started again.
  const restarted = keepRunning(() => plane.startProgram(`${name}-2`, program, args), life.signal);
  await sleep(awaySeconds * 500);
  const starting = plane.restartApiServer();
  await waitUntil('an answer', { timeoutMs, pollMs }, () => holderOf(client, contender));
  const answeredAtMs = performance.now();
  const after = async (what: string, ask: () => Promise<boolean>): Promise<string> => {
    await waitUntil(what, { timeoutMs, pollMs }, () => ask().catch(() => false));
    return `${((performance.now() - answeredAtMs) / 1_000).toFixed(1)} s`;
  };
  const leads = await after('a new leader', async () => {
    const holder = await holderOf(client, contender);
    return holder !== undefined && holder !== former;
  });
  const unknown = await after(`${deadNode} Unknown`, async () => (await kubelets.readyOf(deadNode)) === 'Unknown');
  life.abort();
  await Promise.all([starting, restarted, kubelets.stop()]);
  return `| ${name} | ${awaySeconds} s | ${leads} | ${unknown} |`;
}

type Run = Awaited<ReturnType<ControlPlane['startProgram']>>;

async function keepRunning(start: () => Promise<Run>, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    const run = await start();
    const aborted = new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve()));
    await Promise.race([run.ended, aborted]);
    await run.kill();
    await sleep(1_000);
  }
}
