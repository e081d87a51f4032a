import type { Stage } from '../stage.ts';
import type { Story, Times } from './story.ts';

const node = 'n3';

/** From this controller to those of kube-controller-manager and back, with a dead node throughout: it stays dead, and its pods gone. */
async function run(stage: Stage): Promise<Times> {
  const { timeline, cluster } = stage;
  timeline.mark(`the cable of ${node} is out`);
  await cluster.nodes[node].cable('out');
  await timeline.when('4 of 4 serve', 150, () => stage.servingBeside('web', node) === 4);
  timeline.mark('handed back');
  await stage.use('kube-controller-manager');
  const tainted = await timeline.when('NoExecute by the in-tree controllers', 120, () => stage.isTainted(node));
  await stage.use('node-lifecycle-controller');
  if (!stage.isUnknown(node) || stage.servingBeside('web', node) !== 4)
    throw new Error('the dead node came to life on paper');
  timeline.mark(`the cable of ${node} is in`);
  await cluster.nodes[node].cable('in');
  const well = await timeline.when('Ready without taints', 90, () => stage.isWell(node));
  return { tainted, well };
}

export const handBack: Story = {
  name: 'hand-back',
  about: 'uninstalled and handed back to kube-controller-manager, and installed again, while a node is dead',
  isComparable: false,
  run,
  limits: {},
};
