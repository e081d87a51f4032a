import type { Stage } from '../stage.ts';
import { isServing, nodeOf } from '../timeline.ts';
import { lateness, type Story, type Times } from './story.ts';

const node = 'n3';

/** A kubelet that hangs looks as a dead machine: its pods serve on until they are replaced. */
async function run(stage: Stage): Promise<Times> {
  const { timeline, cluster } = stage;
  const before = await stage.recoveries();
  timeline.mark(`the kubelet of ${node} is suspended`);
  await cluster.nodes[node].signal('kubelet', 'SIGSTOP');
  const age = await stage.heartbeatAge(node);
  const unknown = await timeline.when('Unknown', 90, () => stage.isUnknown(node));
  const replaced = await timeline.when('4 of 4 serve', 120, () => stage.servingBeside('web', node) === 4);
  timeline.mark(`the kubelet of ${node} continues`);
  await cluster.nodes[node].signal('kubelet', 'SIGCONT');
  const well = await timeline.when('Ready without taints', 90, () => stage.isWell(node));
  const isCleared = (): boolean => timeline.podsOf('web').every((pod) => nodeOf(pod) !== node || isServing(pod));
  const cleared = await timeline.when('old pods gone', 120, isCleared);
  await stage.expectRecoveries(before, { same: 1 });
  return {
    unknown,
    late: lateness(unknown, age),
    replaced,
    replacedAfterGrace: lateness(replaced, age),
    well,
    cleared,
  };
}

export const kubelet: Story = {
  name: 'kubelet',
  about: "a worker's kubelet hangs (SIGSTOP), and continues when its pods are replaced",
  isComparable: true,
  run,
  limits: { unknown: 52, late: 2, replaced: 76, replacedAfterGrace: 26 },
};
