import type { NodeName } from '../machine/settings.ts';
import type { Stage } from '../stage.ts';
import type { Story, Times } from './story.ts';

/** Two ready replicas, none of them on the dead node. */
async function areReplacedBeside(stage: Stage, dead: NodeName): Promise<boolean> {
  const nodes = await stage.replicas();
  return nodes.filter((node) => node !== dead).length >= 2;
}

async function run(stage: Stage): Promise<Times> {
  const { timeline, cluster } = stage;
  const node = await stage.leaderNode();
  timeline.mark(`the node of the leader, ${node}, loses power`);
  const startedMs = performance.now();
  await cluster.nodes[node].powerOff();
  const unknown = await timeline.when('Unknown', 90, () => stage.isUnknown(node));
  const replaced = await timeline.when('4 of 4 serve', 120, () => stage.servingBeside('web', node) === 4);
  await cluster.until('two replicas on living nodes', async () => areReplacedBeside(stage, node));
  const replicas = Math.round((performance.now() - startedMs) / 100) / 10;
  timeline.mark(`${node} boots`);
  await cluster.nodes[node].boot();
  const well = await timeline.when('Ready without taints', 120, () => stage.isWell(node));
  return { unknown, replaced, replicas, well };
}

export const leaderNode: Story = {
  name: 'leader-node',
  about: 'the node on which the leading replica runs loses power, and boots when all is replaced',
  isComparable: false,
  run,
  limits: { unknown: 52, replicas: 90 },
};
