// Policies as objects of the API: what kubectl accepts, refuses and shows, and that a dead node follows them.
import { join } from 'node:path';
import { consoleCommand } from '../documented-blocks.ts';
import type { Stage } from '../stage.ts';
import type { Story, Times } from './story.ts';

const root = join(import.meta.dirname, '..', '..', '..');
const node = 'n3';
const gracePeriodSeconds = 80;
/** A node renews its lease every ten seconds, so the last heartbeat may be as old when the cable is pulled. */
const heartbeatAgeSecondsMax = 10;
const heldSeconds = 30;

/** Of one node, none may be unhealthy: the breaker opens at once. */
function edge(gracePeriod: string): string {
  const spec = {
    nodeSelector: { matchLabels: { pool: 'edge' } },
    nodeMonitorGracePeriod: gracePeriod,
    limits: { maxUnhealthy: { percent: 50 } },
  };
  return JSON.stringify({
    apiVersion: 'policy.node-lifecycle.dev/v1alpha1',
    kind: 'NodeLifecyclePolicy',
    metadata: { name: 'edge' },
    spec,
  });
}

async function run(stage: Stage): Promise<Times> {
  const { cluster } = stage;
  await cluster.atDesk(consoleCommand('kubectl apply', 'policies.md'), root);
  return stage.withUpgrade(consoleCommand('helm upgrade', 'policies.md'), async () => {
    try {
      await cluster.kubectl('label', 'node', node, 'pool=edge', '--overwrite');
      await refuses(stage);
      await reports(stage);
      return await applies(stage);
    } finally {
      await cluster.nodes[node].cable('in');
      await cluster.kubectl('label', 'node', node, 'pool-');
      await cluster.kubectl('delete', 'nlp', '--all');
    }
  });
}

/** An object that the API server can see to be wrong is refused with the field. */
async function refuses({ cluster }: Stage): Promise<void> {
  const refused = await cluster.apply(edge('soon')).then(
    () => 'nothing',
    (error: unknown) => String(error),
  );
  if (!/spec\.nodeMonitorGracePeriod/u.test(refused)) throw new Error(`an invalid policy is refused with: ${refused}`);
}

/** One that only the controller can see to be wrong is reported on the object, and the last valid version stays in force. */
async function reports(stage: Stage): Promise<void> {
  await stage.cluster.apply(edge(`${gracePeriodSeconds}s`));
  await shows(stage, /^edge +Enforce +0 +1 +0 +0 +Closed +True /mu);
  await stage.cluster.apply(edge('1s'));
  await shows(stage, /^edge +Enforce +0 +1 +0 +0 +Closed +False /mu);
  const path = '--output=jsonpath={.status.conditions[?(@.type=="Accepted")].message}';
  const message = await stage.cluster.kubectl('get', 'nlp', 'edge', path);
  if (!/spec\.nodeMonitorGracePeriod: must be > .* stays in force/u.test(message))
    throw new Error(`the condition Accepted says: ${message}`);
  await stage.cluster.apply(edge(`${gracePeriodSeconds}s`));
  await shows(stage, /^edge +Enforce +0 +1 +0 +0 +Closed +True /mu);
}

async function shows({ cluster }: Stage, row: RegExp): Promise<void> {
  let shown = '';
  const isShown = async (): Promise<boolean> => row.test((shown = await cluster.kubectl('get', 'nlp')));
  await cluster.until('kubectl get nlp', isShown, 30_000).catch(() => {
    throw new Error(`kubectl get nlp shows, instead of ${row.source}:\n${shown}`);
  });
}

/** Its own grace period, its limit, and its removal. */
async function applies(stage: Stage): Promise<Times> {
  const { timeline, cluster } = stage;
  timeline.mark(`the cable of ${node} is out`);
  await cluster.nodes[node].cable('out');
  const unknown = await timeline.when('Unknown', 120, () => stage.isUnknown(node));
  if (unknown < gracePeriodSeconds - heartbeatAgeSecondsMax - 1)
    throw new Error(`Unknown after ${unknown} s, before the grace period of the policy`);
  await shows(stage, /^edge +Enforce +0 +1 +1 +1 +Open +True /mu);
  const tainted = await timeline.when('NoExecute', heldSeconds, () => stage.isTainted(node)).catch(() => undefined);
  if (tainted !== undefined) throw new Error(`tainted after ${tainted} s, though the breaker of the policy is open`);
  timeline.mark('the policy is deleted');
  await cluster.kubectl('delete', 'nlp', 'edge');
  const released = await timeline.when('NoExecute', 60, () => stage.isTainted(node));
  const replaced = await timeline.when('4 of 4 serve', 120, () => stage.servingBeside('web', node) === 4);
  timeline.mark(`the cable of ${node} is in`);
  await cluster.nodes[node].cable('in');
  const well = await timeline.when('Ready without taints', 90, () => stage.isWell(node));
  return { unknown, released, replaced, well };
}

export const policyObjects: Story = {
  name: 'policy-objects',
  about:
    'policies as objects: one with a grace period and a limit of its own, invalid ones, and its removal while its node is dead',
  isComparable: false,
  run,
  // The grace period is 80 s; a deletion takes half a second, and a token of the zone waits already; 20 s are tolerated; a pod starts.
  limits: { unknown: 82, released: 8, replaced: 34 },
};
