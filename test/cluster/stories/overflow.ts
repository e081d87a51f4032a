// Two workers without cables where one may be unhealthy: the second one is emptied after an interval, and not before.
import { documentedBlock } from '../documented-blocks.ts';
import type { Stage } from '../stage.ts';
import type { Story, Times } from './story.ts';
import { expectNever, storeNode as first, withPolicies } from './with-policies.ts';

const second = 'n2';
const workers = [first, second] as const;
/** In place of the quarter of an hour of the document. */
const ratePerHour = 60;
const intervalSeconds = 3_600 / ratePerHour;
/** Nodes that become silent so far apart did not fail together. */
const apartSeconds = 30;

async function run(stage: Stage): Promise<Times> {
  const { cluster } = stage;
  try {
    await cluster.kubectl('label', 'node', second, 'site=store', '--overwrite');
    return await withPolicies(stage, documentedPolicies(), async () => isEmptiedLater(stage), {
      withoutReplicas: workers,
    });
  } finally {
    await cluster.nodes[second].cable('in');
    await cluster.kubectl('label', 'node', second, 'site-');
  }
}

function documentedPolicies(): string {
  const documented = documentedBlock('A trickle beyond the limit', 'policies:', 'policies.md', 'yaml');
  const policies = documented
    .replace('{ pool: batch }', '{ site: store }')
    .replace('{ percent: 40 }', '{ count: 1 }')
    .replace('ratePerHour: 4', `ratePerHour: ${ratePerHour}`);
  const wanted = ['site: store', 'count: 1', `ratePerHour: ${ratePerHour}`];
  if (wanted.some((part) => !policies.includes(part))) throw new Error('the policy of the document is another one');
  return policies;
}

async function isEmptiedLater(stage: Stage): Promise<Times> {
  const { timeline, cluster } = stage;
  timeline.mark(`the cable of ${first} is out`);
  await cluster.nodes[first].cable('out');
  await expectNever(stage, apartSeconds, 'Unknown', () => stage.isUnknown(first));
  await cluster.nodes[second].cable('out');
  const firstTainted = await timeline.when('NoExecute on the first', 90, () => stage.isTainted(first));
  await timeline.when('the second is Unknown', 90, () => stage.isUnknown(second));
  timeline.mark('one too many is unhealthy');
  await expectNever(stage, intervalSeconds - 5, 'NoExecute on the second', () => stage.isTainted(second));
  // The first place is that of the node that was being emptied when the breaker opened.
  const secondTainted = await timeline.when('NoExecute on the second', 2 * intervalSeconds, () =>
    stage.isTainted(second),
  );
  timeline.mark('both cables are in');
  for (const node of workers) await cluster.nodes[node].cable('in');
  const well = await timeline.when('Ready without taints', 120, () => stage.areAllWell());
  return { firstTainted, secondTainted, well };
}

export const overflow: Story = {
  name: 'overflow',
  about:
    'limits.overflow of one node a minute: of two workers without cables, where one may be unhealthy, the second one is tainted an interval after the breaker opened',
  isComparable: false,
  run,
  limits: { firstTainted: 65, secondTainted: 140 },
};
