// Completed pods of a worker: kept for a time, and then deleted by the pod garbage collector of this controller.
import { accounts, auditedWrites } from '../audit-log.ts';
import type { Stage } from '../stage.ts';
import { podOn } from './pod-on.ts';
import type { Story, Times } from './story.ts';
import { expectNever, storeNode as node, withPolicies } from './with-policies.ts';

const ageSeconds = 30;
/** The pod runs for so long. */
const runsSeconds = 5;
const app = 'completing';
const collecting = "'*,pod-garbage-collector-controller'";

async function run(stage: Stage): Promise<Times> {
  const values = `  controllers: ${collecting}\n  terminatedPodGcAge: ${ageSeconds}s`;
  return withPolicies(stage, 'policies: []', async () => isCollected(stage), { values });
}

async function isCollected(stage: Stage): Promise<Times> {
  const { timeline, cluster } = stage;
  const startedMs = Date.now();
  const pod = JSON.parse(podOn(node, app, { toleratesSeconds: undefined })) as { spec: object };
  const spec = { ...pod.spec, restartPolicy: 'Never', activeDeadlineSeconds: runsSeconds };
  await cluster.apply(JSON.stringify({ ...pod, spec }));
  const isThere = (): boolean => timeline.podsOf(app).length > 0;
  const hasCompleted = (): boolean => timeline.podsOf(app).some((each) => each['status']?.phase === 'Failed');
  await timeline.when('it has completed', 60, hasCompleted);
  timeline.mark('it has completed');
  await expectNever(stage, ageSeconds - 3, 'a deletion before its age', () => !isThere());
  const collected = await timeline.when('it is deleted', 60, () => !isThere());
  const target = `pods shop/${app}`;
  const deleters = (): readonly string[] =>
    auditedWrites(cluster.controlPlane.auditLog, startedMs)
      .filter((write) => write.verb === 'delete' && write.target === target)
      .map(({ user }) => user);
  await cluster.until('the audit log has its deletion', async () => deleters().length > 0);
  if (deleters().some((user) => user !== accounts.own)) throw new Error(`it was deleted by ${deleters().join(', ')}`);
  return { collected };
}

export const completedPods: Story = {
  name: 'completed-pods',
  about: 'terminatedPodGcAge of 30 s: a completed pod stays for so long, and is deleted within a round after it',
  isComparable: false,
  run,
  // A round of the collector.
  limits: { collected: 55 },
};
