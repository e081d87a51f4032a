// An early warning: a worker without a cable is annotated before it is Unknown, and no longer after it is Ready again.
import { overdueAnnotation } from '../../../src/machinery/api/node.ts';
import { documentedBlock } from '../documented-blocks.ts';
import type { Stage } from '../stage.ts';
import type { Story, Times } from './story.ts';
import { plugCable, pullCable, storeNode as node, withPolicies } from './with-policies.ts';

async function run(stage: Stage): Promise<Times> {
  return withPolicies(stage, documentedPolicies(), async () => isWarnedOf(stage));
}

/** The policy of the document, for the worker of these stories. */
function documentedPolicies(): string {
  const documented = documentedBlock('Early warning', 'policies:', 'policies.md', 'yaml');
  const policies = documented.replace('{ pool: databases }', '{ site: store }');
  if (policies === documented) throw new Error('the policy of the document selects other nodes');
  return policies;
}

async function isWarnedOf(stage: Stage): Promise<Times> {
  const { timeline, cluster } = stage;
  await pullCable(stage);
  const isAnnotated = (): boolean => timeline.nodes.get(node)?.metadata.annotations?.[overdueAnnotation] !== undefined;
  const warned = await timeline.when('annotated', 60, isAnnotated);
  if (stage.isUnknown(node)) throw new Error(`${node} was Unknown before it was annotated`);
  const bytes = JSON.stringify(timeline.nodes.get(node)).length;
  const unknown = await timeline.when('Unknown', 60, () => stage.isUnknown(node));
  const events = await cluster.kubectl('get', 'events', '--field-selector', 'reason=NodeHeartbeatOverdue');
  if (!events.includes(`node/${node}`)) throw new Error(`no Event of the warning:\n${events}`);
  const well = await plugCable(stage);
  const cleared = await timeline.when('no annotation', 30, () => !isAnnotated());
  return { warned, unknown, well, cleared, kilobytes: bytes / 1_000 };
}

export const earlyWarning: Story = {
  name: 'early-warning',
  about:
    'a policy warns after 25 s: a worker without a cable is annotated then, is Unknown later, and is cleared when it is Ready again',
  isComparable: false,
  run,
  // The last heartbeat was up to 10 s before.
  limits: { warned: 27, unknown: 52 },
};
