// The runtime of a worker is down, and its kubelet goes on reporting its pods as Ready: they leave their Services after the time of a policy.
import { documentedBlock } from '../documented-blocks.ts';
import type { Stage } from '../stage.ts';
import type { Story, Times } from './story.ts';
import { expectNever, storeNode as node, withPolicies } from './with-policies.ts';

/** In place of the minute of the document. */
const afterSeconds = 20;
const watchedSeconds = 30;

async function run(stage: Stage): Promise<Times> {
  const machine = stage.cluster.nodes[node];
  const story = async (): Promise<Times> => {
    try {
      return await areMarked(stage);
    } finally {
      await machine.release('containerd');
    }
  };
  // Without containerd no replica ends.
  return withPolicies(stage, documentedPolicies(), story, { withoutReplicas: [node] });
}

/** With mode Detect, so that its pods are not evicted meanwhile. */
function documentedPolicies(): string {
  const documented = documentedBlock('Pods of nodes that are NotReady', 'policies:', 'policies.md', 'yaml');
  const policies = documented
    .replace('{ pool: web }', '{ site: store }')
    .replace('After: 60s', `After: ${afterSeconds}s\n    mode: Detect`);
  if (!policies.includes('site: store') || !policies.includes(`${afterSeconds}s\n`))
    throw new Error('the policy of the document is another one');
  return policies;
}

async function areMarked(stage: Stage): Promise<Times> {
  const { timeline, cluster } = stage;
  const machine = cluster.nodes[node];
  const isEndpoint = (): boolean => timeline.endpointsOf('web').includes(node);
  if (!isEndpoint()) throw new Error(`no pod of web on ${node} is an endpoint`);
  timeline.mark(`containerd of ${node} stops`);
  await machine.hold('containerd');
  await machine.signal('containerd', 'SIGKILL');
  const notReady = await timeline.when('NotReady', 120, () => !stage.isReady(node));
  timeline.mark(`${node} is NotReady`);
  await expectNever(stage, afterSeconds - 3, 'pods out of their Service', () => !isEndpoint());
  const marked = await timeline.when('endpoints gone', 60, () => !isEndpoint());
  await expectNever(stage, watchedSeconds, 'pods in their Service again', isEndpoint);
  timeline.mark(`containerd of ${node} starts`);
  await machine.release('containerd');
  const back = await timeline.when('endpoints are back', 120, () => stage.isWell(node) && isEndpoint());
  return { notReady, marked, back };
}

export const notReadyPods: Story = {
  name: 'not-ready-pods',
  about:
    'markPodsOfNotReadyAfter of 20 s: containerd of a worker stops, and its pods leave their Services 20 s after it is NotReady, and come back with containerd',
  isComparable: false,
  run,
  limits: { marked: 27, back: 90 },
};
