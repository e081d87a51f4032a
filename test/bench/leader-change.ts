// `npm run bench:leader-change`: the time without a leader, and what happens to nodes that die then, when the leader of two replicas
// crashes, ends or is suspended; of `nlc controller` and of kube-controller-manager at the same time, each on a control plane of its
// own with three nodes (docs/performance.md). Needs the control plane (`npm run control-plane`). `-- --rounds=N`, default 3.
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { freePorts } from '../../src/cli/simulation/programs/free-ports.ts';
import { type ControlPlane, startControlPlane } from '../control-plane/control-plane.ts';
import { waitUntil } from '../control-plane/wait-until.ts';
import { type ElectedContender, electedContenders, holderOf } from './elected-contenders.ts';
import { FewNodes } from './few-nodes.ts';
import { percentile } from './percentile.ts';

const graceMs = 30_000;
/** Its grace period ends just after the leader has ended: the next act. */
const dueNode = 'n1';
/** Its last heartbeat is just before the leader ends. */
const dyingNode = 'n2';
const nodes = [dueNode, dyingNode, 'n3'] as const;
const dueAfterMs = 300;
/** A standby has read everything, and nodes that were silent are Ready. */
const settleMs = 15_000;
const timeoutMs = 120_000;
const pollMs = 50;

const ends = { 'it crashes': 'SIGKILL', 'it is ended': 'SIGTERM', 'it is suspended': 'SIGSTOP' } as const;
type End = keyof typeof ends;
type Replica = Awaited<ReturnType<ControlPlane['startProgram']>>;

/** Seconds after the end of the leader; for the node that dies with it, after the end of its grace period. */
interface Change {
  readonly end: End;
  readonly leads: number;
  readonly acts: number;
  readonly dying: number;
}

const titles = {
  leads: 'another replica leads',
  acts: 'a node that was due 0.3 s after it is Unknown',
  dying: 'a node that died with it is Unknown, after its grace period',
} as const;

const { values } = parseArgs({ options: { rounds: { type: 'string', default: '3' } } });
const rounds = Number(values.rounds);
if (!Number.isInteger(rounds) || rounds < 1)
  throw new RangeError(`--rounds: must be a whole number >= 1 (got ${values.rounds})`);
const contenders = electedContenders(graceMs / 1_000);
const changes = await Promise.all(contenders.map((contender) => measure(contender)));
console.log(`| the leader | seconds until | ${contenders.map(({ name }) => name).join(' | ')} |`);
console.log('| --- | --- | ---: | ---: |');
for (const end of Object.keys(ends) as End[])
  for (const figure of Object.keys(titles) as (keyof typeof titles)[])
    console.log(`| ${end} | ${titles[figure]} | ${changes.map((all) => describe(all, end, figure)).join(' | ')} |`);

async function measure(contender: ElectedContender): Promise<readonly Change[]> {
  await using plane = await startControlPlane({
    apiServerArgs: ['--disable-admission-plugins=ServiceAccount,TaintNodesByCondition'],
  });
  const kubelets = new FewNodes(plane.client());
  for (const node of nodes) await kubelets.register(node);
  for (const node of nodes) kubelets.renew(node);
  const start = async (): Promise<Replica> => {
    const [program, ...args] = contender.command(plane, (await freePorts(1))[0] ?? 0);
    return plane.startProgram(contender.name, program, args);
  };
  let leader = await start();
  await waitUntil('a leader', { timeoutMs }, () => holderOf(plane.client(), contender));
  let standby = await start();
  const measured: Change[] = [];
  for (let round = 0; round < rounds; round += 1)
    for (const end of Object.keys(ends) as End[]) {
      await sleep(settleMs);
      measured.push(await change(plane, contender, { leader, kubelets, end }));
      await leader.kill();
      [leader, standby] = [standby, await start()];
      for (const node of [dueNode, dyingNode]) kubelets.renew(node);
    }
  await kubelets.stop();
  return measured;
}

interface Changing {
  readonly leader: Replica;
  readonly kubelets: FewNodes;
  readonly end: End;
}

async function change(
  plane: ControlPlane,
  contender: ElectedContender,
  { leader, kubelets, end }: Changing,
): Promise<Change> {
  const client = plane.client();
  const former = await holderOf(client, contender);
  const dueAtMs = (await lastBeat(kubelets, dueNode)) + graceMs;
  await sleep(dueAtMs - dueAfterMs - performance.now());
  const dyingAtMs = (await lastBeat(kubelets, dyingNode)) + graceMs;
  process.kill(leader.pid, ends[end]);
  const endedAtMs = performance.now();
  const leads = waitUntil('another leader', { timeoutMs, pollMs }, async () => {
    const holder = await holderOf(client, contender);
    return holder !== undefined && holder !== former && performance.now();
  });
  const [leadsAtMs, actsAtMs, diesAtMs] = await Promise.all([
    leads,
    unknownAt(kubelets, dueNode),
    unknownAt(kubelets, dyingNode),
  ]);
  const seconds = (fromMs: number, toMs: number): number => (toMs - fromMs) / 1_000;
  return {
    end,
    leads: seconds(endedAtMs, leadsAtMs),
    acts: seconds(endedAtMs, actsAtMs),
    dying: seconds(dyingAtMs, diesAtMs),
  };
}

/** When the last heartbeat of a node was accepted. */
async function lastBeat(kubelets: FewNodes, node: string): Promise<number> {
  await kubelets.silence(node);
  await waitUntil(`a heartbeat of ${node}`, { timeoutMs }, () => kubelets.beat(node));
  return performance.now();
}

function unknownAt(kubelets: FewNodes, node: string): Promise<number> {
  return waitUntil(`${node} Unknown`, { timeoutMs, pollMs }, async () => {
    return (await kubelets.readyOf(node)) === 'Unknown' && performance.now();
  });
}

function describe(all: readonly Change[], end: End, figure: keyof typeof titles): string {
  const seconds = all.filter((one) => one.end === end).map((one) => one[figure]);
  const [median, least, most] = [percentile(seconds, 0.5), Math.min(...seconds), Math.max(...seconds)];
  return `${median.toFixed(1)} (${least.toFixed(1)} to ${most.toFixed(1)})`;
}
