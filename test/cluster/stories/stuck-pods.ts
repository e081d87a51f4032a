// Pods of a worker without a cable that only its kubelet could end: counted when they are overdue, never deleted by force, gone with its return.
import { documentedBlock } from '../documented-blocks.ts';
import type { Stage } from '../stage.ts';
import type { Story, Times } from './story.ts';
import { expectNever, plugCable, pullCable, storeNode as node, withPolicies } from './with-policies.ts';

/** In place of the minutes of the document. */
const timeoutSeconds = 10;
const metric = 'node_lifecycle_policy_stuck_pods{policy="databases"}';
const watchedSeconds = 20;

async function run(stage: Stage): Promise<Times> {
  return withPolicies(stage, documentedPolicies(), async () => areStuck(stage));
}

function documentedPolicies(): string {
  const documented = documentedBlock('Pods that do not end', 'policies:', 'policies.md', 'yaml');
  const policies = documented
    .replace('terminatingTimeout: 10m', `terminatingTimeout: ${timeoutSeconds}s`)
    .replace('{ pool: databases }', '{ site: store }');
  if (!policies.includes('site: store') || !policies.includes(`: ${timeoutSeconds}s`))
    throw new Error('the policy of the document is another one');
  return policies;
}

async function areStuck(stage: Stage): Promise<Times> {
  const { timeline, cluster } = stage;
  const terminating = (): number =>
    timeline.podsOn(node).filter(({ metadata }) => metadata.deletionTimestamp !== undefined).length;
  await pullCable(stage);
  const evicted = await timeline.when('a pod of it is terminating', 120, () => terminating() > 0);
  timeline.mark('the first pod is terminating');
  await cluster.until('stuck pods are counted', async () => ((await stage.leaderMetric(metric)) ?? 0) > 0);
  const counted = await timeline.when('stuck pods are counted', 1, () => true);
  await timeline.when('4 of 4 serve', 60, () => stage.servingBeside('web', node) === 4);
  const before = terminating();
  await expectNever(stage, watchedSeconds, 'pods gone by force', () => terminating() < before);
  const stuck = await stage.leaderMetric(metric);
  if (stuck !== before) throw new Error(`${stuck} pods are counted as stuck, ${before} are`);
  const well = await plugCable(stage);
  await cluster.until('none is counted any more', async () => (await stage.leaderMetric(metric)) === 0);
  const gone = await timeline.when('they are gone', 60, () => terminating() === 0);
  return { evicted, counted, well, gone };
}

export const stuckPods: Story = {
  name: 'stuck-pods',
  about:
    'terminatingTimeout of 10 s: the pods of a worker without a cable are counted as stuck, are not deleted by force, and end with its return',
  isComparable: false,
  run,
  // 5 s of grace, the timeout, and a question.
  limits: { evicted: 80, counted: 25, gone: 60 },
};
