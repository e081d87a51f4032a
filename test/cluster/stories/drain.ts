import type { Stage } from '../stage.ts';
import type { Story, Times } from './story.ts';

/**
 * The budget of the controller holds one replica, which leads or takes over. Pods of the StatefulSet stay: their budget lets none of them
 * go, wherever they are.
 */
async function drainLeader(stage: Stage): Promise<Times> {
  const { timeline, cluster } = stage;
  const node = await stage.leaderNode();
  timeline.mark(`${node}, the node of the leader, is drained`);
  const startedMs = performance.now();
  const since = (): number => Math.round((performance.now() - startedMs) / 100) / 10;
  const flags = ['--ignore-daemonsets', '--delete-emptydir-data', '--pod-selector=app!=db', '--timeout=240s'];
  await cluster.kubectl('drain', node, ...flags);
  const drained = since();
  await cluster.until('a replica leads', async () => stage.isLed());
  const led = since();
  await cluster.until('two replicas', async () => (await stage.replicas()).length >= 2);
  const replicas = since();
  await cluster.kubectl('uncordon', node);
  await timeline.when('schedulable', 60, () => stage.isWell(node));
  return { drained, led, replicas };
}

const limits: Times = { drained: 120, led: 140, replicas: 120 };

export const drain: Story = {
  name: 'drain',
  about: "the leader's node is drained under the PodDisruptionBudget of the controller, and uncordoned",
  isComparable: false,
  run: drainLeader,
  limits,
};

export const drainOutage: Story = {
  name: 'drain-outage',
  about: 'the same while another node is dead: it stays Unknown, and its pods gone',
  isComparable: false,
  run: async (stage) => {
    const leader = await stage.leaderNode();
    return stage.withDeadNode(leader === 'n3' ? 'n2' : 'n3', () => drainLeader(stage));
  },
  limits,
};
