// Early detection: a worker without a cable is Unknown long before its grace period ends, and one whose kubelet alone is stopped is not.
import { setTimeout as sleep } from 'node:timers/promises';
import { documentedBlock } from '../documented-blocks.ts';
import type { Stage } from '../stage.ts';
import { freezeApiServer } from './api-server.ts';
import type { Story, Times } from './story.ts';
import { plugCable, pullCable, storeNode as node, withPolicies } from './with-policies.ts';

/** The replicas run on the other nodes: of two, one on the dead node leaves the other without a witness. */
async function run(stage: Stage): Promise<Times> {
  return withPolicies(stage, documentedPolicies(), async () => isDetected(stage), {
    values: 'earlyDetection: { enabled: true }',
    withoutReplicas: [node],
  });
}

/** The policy of the document, for the worker of these stories. */
function documentedPolicies(): string {
  const documented = documentedBlock('Early detection', 'policies:', 'policies.md', 'yaml');
  const policies = documented.replace('{ pool: web }', '{ site: store }');
  if (policies === documented) throw new Error('the policy of the document selects other nodes');
  return policies;
}

/** A replica that has just started does not know who else is silent, and has not asked any node yet. */
const followedSeconds = 60;

async function isDetected(stage: Stage): Promise<Times> {
  const { timeline, cluster } = stage;
  await sleep(followedSeconds * 1_000);
  await pullCable(stage);
  const age = await stage.heartbeatAge(node);
  const unknown = await timeline.when('Unknown', 60, () => stage.isUnknown(node));
  const well = await plugCable(stage);
  // Longer than the time after which silent nodes are asked.
  await freezeApiServer(stage, 30);
  timeline.mark(`the kubelet of ${node} is suspended`);
  await cluster.nodes[node].signal('kubelet', 'SIGSTOP');
  const stoppedAge = await stage.heartbeatAge(node);
  const stopped = await timeline.when('Unknown', 90, () => stage.isUnknown(node));
  timeline.mark(`the kubelet of ${node} continues`);
  await cluster.nodes[node].signal('kubelet', 'SIGCONT');
  await timeline.when('Ready without taints', 90, () => stage.isWell(node));
  const stoppedSince = stopped + stoppedAge;
  if (stoppedSince < 48)
    throw new Error(`${node} answered, and was Unknown ${stoppedSince} s after its last heartbeat`);
  return { unknown, sinceHeartbeat: unknown + age, well, stoppedSince };
}

export const earlyDetection: Story = {
  name: 'early-detection',
  about:
    'a policy with detection: a worker without a cable is Unknown within 17 s of its last heartbeat, none while the API server is frozen for 30 s, and one whose kubelet is stopped at its deadline',
  isComparable: false,
  run,
  limits: { unknown: 17, sinceHeartbeat: 17, stoppedSince: 52 },
};
