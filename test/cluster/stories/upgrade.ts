import type { Stage } from '../stage.ts';
import type { Story, Times } from './story.ts';

const node = 'n3';

/** Settings change while a node is dead: one that needs no restart, one that does, and back. Its pods are evicted on time all the same. */
async function run(stage: Stage): Promise<Times> {
  const { timeline } = stage;
  timeline.mark(`the cable of ${node} is out`);
  await stage.cluster.nodes[node].cable('out');
  await stage.helm('upgrade', '--reuse-values', '--set', 'config.nodeEvictionRate=0.2');
  await stage.helm('upgrade', '--reuse-values', '--set', 'config.concurrentTaintEvictions=12');
  const unknown = await timeline.when('Unknown', 120, () => stage.isUnknown(node));
  await stage.helm('rollback');
  const replaced = await timeline.when('4 of 4 serve', 120, () => stage.servingBeside('web', node) === 4);
  await stage.rolledOut();
  timeline.mark(`the cable of ${node} is in`);
  await stage.cluster.nodes[node].cable('in');
  const well = await timeline.when('Ready without taints', 90, () => stage.isWell(node));
  return { unknown, replaced, well };
}

export const upgrade: Story = {
  name: 'upgrade',
  about: 'helm upgrade of a live and of another setting, and a rollback, while a node is dead',
  isComparable: false,
  run,
  limits: { unknown: 70, replaced: 100 },
};
