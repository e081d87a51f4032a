import type { NodeName } from '../machine/settings.ts';
import type { Stage } from '../stage.ts';
import type { Story, Times } from './story.ts';

/** First the node of the leader, then that of the replica which took over: every failure is found on time. */
async function run(stage: Stage): Promise<Times> {
  const { timeline, cluster } = stage;
  const first = await stage.leaderNode();
  timeline.mark(`${first}, the node of the leader, loses power`);
  await cluster.nodes[first].powerOff();
  const firstUnknown = await timeline.when('Unknown', 90, () => stage.isUnknown(first));
  await cluster.until(
    'two replicas on living nodes',
    async () => (await stage.replicas()).filter((node) => node !== first).length >= 2,
  );
  const second: NodeName = await stage.leaderNode();
  timeline.mark(`${second}, the node of the next leader, loses power`);
  await cluster.nodes[second].powerOff();
  const secondUnknown = await timeline.when('Unknown', 90, () => stage.isUnknown(second));
  timeline.mark('both boot');
  for (const node of [first, second]) await cluster.nodes[node].boot();
  const well = await timeline.when('Ready without taints', 120, () =>
    [first, second].every((node) => stage.isWell(node)),
  );
  return { firstUnknown, secondUnknown, well };
}

export const bothReplicas: Story = {
  name: 'both-replicas',
  about: 'the node of the leader loses power, and when replicas run elsewhere that of the next leader',
  isComparable: false,
  run,
  limits: { firstUnknown: 52, secondUnknown: 68 },
};
