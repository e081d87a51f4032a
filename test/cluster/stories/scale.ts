// Three real nodes and three hundred hollow ones: all nodes of a hollow zone become silent at once, then those of the zone of a real node.
import { setTimeout as sleep } from 'node:timers/promises';
import type { ApiObject } from '../machine/api-client.ts';
import type { Stage } from '../stage.ts';
import { labelsOf, readyOf, taintsOf } from '../timeline.ts';
import type { Story, Times } from './story.ts';

const hollowNodes = 300;
const silentZone = 'hollow-1';
/** Alone in its zone. */
const node = 'n1';
const quietSeconds = 60;
/** Of a zone, when nothing else is set: nodes tainted per second. */
const evictionRate = 0.1;

async function run(stage: Stage): Promise<Times> {
  const { timeline, cluster } = stage;
  cluster.hollowNodes.start(hollowNodes, 2);
  try {
    const areWell = (): boolean =>
      timeline.nodes.size === hollowNodes + 3 && [...timeline.nodes.values()].every(isWell);
    timeline.mark(`${hollowNodes} hollow nodes start`);
    const registered = await timeline.when('all nodes are well', 180, areWell);
    const quiet = await useDuring(stage, () => sleep(quietSeconds * 1_000));
    const harm = watchOthers(stage);
    const silencedMs = performance.now();
    const silent = await useDuring(stage, () => silenceZone(stage));
    const real = await cutOff(stage);
    const harmed = harm();
    if (harmed !== undefined) throw new Error(`a node of another zone was found dead: ${harmed}`);
    const tainted = expectRate(stage, silencedMs);
    return {
      registered,
      ...silent.result,
      ...real,
      'CPU when quiet [ms/s]': quiet.millisecondsPerSecond,
      'CPU when a zone becomes silent [ms/s]': silent.millisecondsPerSecond,
      'tainted in the hollow zone [nodes]': tainted,
      'RSS [MB]': silent.residentMegabytes,
    };
  } finally {
    await removeHollowNodes(stage);
  }
}

function isWell(object: ApiObject): boolean {
  return readyOf(object) === 'True' && taintsOf(object).every((taint) => taint === 'hollow:NoSchedule');
}

/** Does something, and says what the leader used meanwhile. */
async function useDuring<T>(
  stage: Stage,
  act: () => Promise<T>,
): Promise<{ readonly result: T; readonly millisecondsPerSecond: number; readonly residentMegabytes: number }> {
  const [before, startedMs] = [await stage.leaderUse(), performance.now()];
  const result = await act();
  const [after, seconds] = [await stage.leaderUse(), (performance.now() - startedMs) / 1_000];
  const millisecondsPerSecond = Math.round(((after.cpuSeconds - before.cpuSeconds) * 10_000) / seconds) / 10;
  return { result, millisecondsPerSecond, residentMegabytes: after.residentMegabytes };
}

/** Returns a function that says which node of a zone that is not silent was Unknown or tainted since; undefined: none. */
function watchOthers({ timeline }: Stage): () => string | undefined {
  const isMeant = (object: ApiObject): boolean =>
    object.metadata.name === node || labelsOf(object)['topology.kubernetes.io/zone'] === silentZone;
  const harm = (): ApiObject | undefined =>
    [...timeline.nodes.values()].find((object) => !isMeant(object) && !isWell(object));
  let harmed: string | undefined;
  timeline
    .when('harm in another zone', 600, () => harm() !== undefined)
    .then(() => (harmed = harm()?.metadata.name ?? 'a node that recovered'))
    .catch(() => undefined);
  return () => harmed;
}

/** All nodes of a hollow zone at once. */
async function silenceZone(stage: Stage): Promise<Times> {
  const { timeline, cluster } = stage;
  const unknown = (): number => silentNodes(stage).filter((object) => readyOf(object) === 'Unknown').length;
  timeline.mark(`zone ${silentZone} is silent`);
  await cluster.hollowNodes.cutOff(silentZone);
  const [firstUnknown, allUnknown, firstTainted] = await Promise.all([
    timeline.when('the first is Unknown', 90, () => unknown() > 0),
    timeline.when('all are Unknown', 90, () => unknown() === silentNodes(stage).length),
    timeline.when('the first is tainted', 90, () => silentNodes(stage).some(isTainted)),
  ]);
  return { firstUnknown, allUnknown, firstTainted };
}

function silentNodes({ timeline }: Stage): readonly ApiObject[] {
  return [...timeline.nodes.values()].filter(
    (object) => labelsOf(object)['topology.kubernetes.io/zone'] === silentZone,
  );
}

function isTainted(object: ApiObject): boolean {
  return taintsOf(object).includes('unreachable:NoExecute');
}

/** A zone that is silent is tainted at its rate, and not at once; returns how many of its nodes are. */
function expectRate(stage: Stage, silencedMs: number): number {
  const tainted = silentNodes(stage).filter(isTainted).length;
  const most = 2 + ((performance.now() - silencedMs) / 1_000) * evictionRate;
  if (tainted > most)
    throw new Error(`${tainted} nodes of ${silentZone} are tainted, at most ${Math.floor(most)} by its rate`);
  return tainted;
}

/** The zone of a real node, while the hollow one is silent: its taint does not wait for those of the other zone. */
async function cutOff(stage: Stage): Promise<Times> {
  const { timeline, cluster } = stage;
  timeline.mark(`the cable of ${node} is out`);
  await cluster.nodes[node].cable('out');
  const unknown = await timeline.when('Unknown', 90, () => stage.isUnknown(node));
  const tainted = await timeline.when('NoExecute', 60, () => stage.isTainted(node));
  const replaced = await timeline.when('4 of 4 serve', 120, () => stage.servingBeside('web', node) === 4);
  timeline.mark(`the cable of ${node} is in`);
  await cluster.nodes[node].cable('in');
  const well = await timeline.when('Ready without taints', 90, () => stage.isWell(node));
  return { unknown, tainted, replaced, well };
}

async function removeHollowNodes({ timeline, cluster }: Stage): Promise<void> {
  await cluster.hollowNodes.stop();
  await cluster.kubectl('delete', 'nodes', '--selector=cluster.local/hollow=true', '--wait=false');
  await timeline.when('the hollow nodes are gone', 120, () => timeline.nodes.size === 3);
}

export const scale: Story = {
  name: 'scale',
  about: `with ${hollowNodes} hollow nodes, a zone of 150 is silent at once, and then the zone of a real node`,
  isComparable: false,
  run,
  // As with one node: a zone that is silent beside others is no failure of the path to the API server, so nothing is held for that.
  limits: { allUnknown: 56, firstTainted: 60, unknown: 52, tainted: 56, replaced: 76 },
};
