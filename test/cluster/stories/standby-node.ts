import type { Stage } from '../stage.ts';
import type { Story, Times } from './story.ts';

async function run(stage: Stage): Promise<Times> {
  const { timeline, cluster } = stage;
  const leader = await stage.leaderNode();
  const standby = (await stage.replicas()).find((node) => node !== leader);
  if (standby === undefined) throw new Error(`no replica runs on another node than ${leader}`);
  const led = await stage.leadership();
  timeline.mark(`the node of the standby replica, ${standby}, loses power`);
  const startedMs = performance.now();
  await cluster.nodes[standby].powerOff();
  const unknown = await timeline.when('Unknown', 90, () => stage.isUnknown(standby));
  await cluster.until(
    'two replicas on living nodes',
    async () => (await stage.replicas()).filter((node) => node !== standby).length >= 2,
  );
  const replicas = Math.round((performance.now() - startedMs) / 100) / 10;
  timeline.mark(`${standby} boots`);
  await cluster.nodes[standby].boot();
  const well = await timeline.when('Ready without taints', 120, () => stage.isWell(standby));
  const after = await stage.leadership();
  if (after !== led) throw new Error(`the leader changed from ${led} to ${after}, though only a standby failed`);
  return { unknown, replicas, well };
}

export const standbyNode: Story = {
  name: 'standby-node',
  about: 'the node of the standby replica loses power: the leader stays, and a replica starts elsewhere',
  isComparable: false,
  run,
  limits: { unknown: 52, replicas: 90 },
};
