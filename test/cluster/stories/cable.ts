import type { Stage } from '../stage.ts';
import { isServing, nodeOf } from '../timeline.ts';
import { lateness, type Story, type Times } from './story.ts';

const node = 'n3';

async function run(stage: Stage): Promise<Times> {
  const { timeline, cluster } = stage;
  const before = await stage.recoveries();
  timeline.mark(`the cable of ${node} is out`);
  await cluster.nodes[node].cable('out');
  const age = await stage.heartbeatAge(node);
  const unknown = await timeline.when('Unknown', 90, () => stage.isUnknown(node));
  const endpointsGone = await timeline.when('endpoints gone', 60, () => !timeline.endpointsOf('web').includes(node));
  const tainted = await timeline.when('NoExecute', 60, () => stage.isTainted(node));
  const replaced = await timeline.when('4 of 4 serve', 120, () => stage.servingBeside('web', node) === 4);
  timeline.mark(`the cable of ${node} is in`);
  await cluster.nodes[node].cable('in');
  const well = await timeline.when('Ready without taints', 90, () => stage.isWell(node));
  const isCleared = (): boolean =>
    ['web', 'db'].every((app) => timeline.podsOf(app).every((pod) => nodeOf(pod) !== node || isServing(pod)));
  const cleared = await timeline.when('old pods gone', 120, isCleared);
  const db = await timeline.when(
    'the StatefulSet is whole',
    120,
    () => timeline.podsOf('db').filter(isServing).length === 2,
  );
  await stage.expectRecoveries(before, { same: 1 });
  return {
    unknown,
    late: lateness(unknown, age),
    endpointsGone,
    tainted,
    replaced,
    replacedAfterGrace: lateness(replaced, age),
    well,
    cleared,
    db,
  };
}

export const cable: Story = {
  name: 'cable',
  about: "a worker's cable is pulled, and plugged in again when its pods are replaced",
  isComparable: true,
  run,
  // The grace period is 50 s less the age of the last heartbeat, at most 10 s; 20 s are tolerated; a pod starts.
  limits: { unknown: 52, late: 2, endpointsGone: 54, tainted: 56, replaced: 76, replacedAfterGrace: 26 },
};
