import type { Stage } from '../stage.ts';
import { podNames } from '../timeline.ts';
import type { Story, Times } from './story.ts';

const node = 'n3';

/** One setting that needs no restart, one that does, a restart without a change, and back to what was installed. */
const steps: readonly ((stage: Stage) => Promise<unknown>)[] = [
  (stage) => stage.installation.run('change a setting'),
  (stage) => stage.helm('upgrade', '--reuse-values', '--set', 'config.concurrentWrites=12'),
  (stage) => stage.restart(),
  (stage) => stage.helm('rollback', '1'),
];

async function upgradeAll(stage: Stage): Promise<void> {
  for (const step of steps) await step(stage);
  await stage.rolledOut();
  await stage.cluster.until('a replica leads', async () => stage.isLed());
}

/** No node is found dead, and no pod moves. */
async function run(stage: Stage): Promise<Times> {
  const { timeline } = stage;
  timeline.mark('upgrades');
  const names = podNames(timeline.podsOf('web'));
  const isHarmed = (): boolean => !stage.areAllWell() || podNames(timeline.podsOf('web')) !== names;
  const harmed = await timeline.everWhile(isHarmed, () => upgradeAll(stage));
  if (harmed) throw new Error('a node was tainted or found dead, or a pod moved, though all nodes are healthy');
  return { upgraded: await timeline.when('upgraded', 1, () => true) };
}

/** The upgrades run while it is found dead; its pods are evicted on time all the same. */
async function runInOutage(stage: Stage): Promise<Times> {
  const { timeline } = stage;
  timeline.mark(`the cable of ${node} is out`);
  await stage.cluster.nodes[node].cable('out');
  const isReplaced = (): boolean => stage.isUnknown(node) && stage.servingBeside('web', node) === 4;
  const [unknown, replaced] = await Promise.all([
    timeline.when('Unknown', 120, () => stage.isUnknown(node)),
    timeline.when('4 of 4 serve', 150, isReplaced),
    upgradeAll(stage),
  ]);
  timeline.mark(`the cable of ${node} is in`);
  await stage.cluster.nodes[node].cable('in');
  const well = await timeline.when('Ready without taints', 90, () => stage.isWell(node));
  return { unknown, replaced, well };
}

export const upgrade: Story = {
  name: 'upgrade',
  about: 'helm upgrade of a live and of another setting, a restart of the pods, and a rollback: nothing moves',
  isComparable: false,
  run,
  limits: {},
};

export const upgradeOutage: Story = {
  name: 'upgrade-outage',
  about: 'the same while a node dies',
  isComparable: false,
  run: runInOutage,
  // The upgrades take up to 45 s, and the replica that leads in the end measures the silence from its own start.
  limits: { unknown: 95, replaced: 120 },
};
