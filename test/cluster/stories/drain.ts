import type { Stage } from '../stage.ts';
import type { Story, Times } from './story.ts';

async function run(stage: Stage): Promise<Times> {
  const { timeline, cluster } = stage;
  const node = await stage.leaderNode();
  timeline.mark(`${node}, the node of the leader, is drained`);
  const startedMs = performance.now();
  const since = (): number => Math.round((performance.now() - startedMs) / 100) / 10;
  await cluster.kubectl('drain', node, '--ignore-daemonsets', '--delete-emptydir-data', '--timeout=240s');
  const drained = since();
  await cluster.until(
    'two replicas beside it',
    async () => (await stage.replicas()).filter((each) => each !== node).length >= 2,
  );
  const replicas = since();
  await cluster.until('a replica leads', async () => stage.isLed());
  await cluster.kubectl('uncordon', node);
  await timeline.when('schedulable', 60, () => stage.isWell(node));
  return { drained, replicas };
}

export const drain: Story = {
  name: 'drain',
  about: "the leader's node is drained under the PodDisruptionBudget of the controller, and uncordoned",
  isComparable: false,
  run,
  limits: { drained: 120, replicas: 120 },
};
