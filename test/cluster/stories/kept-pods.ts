// What holds the evictions of a worker without a cable: the mark of another tool, then the label of the namespace of its pods.
import { autonomyLabel } from '../../../src/machinery/api/pod.ts';
import { documentedBlock } from '../documented-blocks.ts';
import type { Stage } from '../stage.ts';
import type { Story, Times } from './story.ts';
import { expectNever, plugCable, pullCable, storeNode as node, withPolicies } from './with-policies.ts';

const mark = 'karpenter.sh/do-not-repair';
const heldSeconds = 30;
/** Longer than the pods tolerate the taint. */
const askedSeconds = 40;

async function run(stage: Stage): Promise<Times> {
  const { cluster } = stage;
  return withPolicies(
    stage,
    documentedPolicies(),
    async () => {
      try {
        await cluster.kubectl('label', 'namespace', 'shop', `${autonomyLabel}=true`);
        await cluster.kubectl('annotate', 'node', node, `${mark}=true`);
        return await isKept(stage);
      } finally {
        await cluster.kubectl('annotate', 'node', node, `${mark}-`);
        await cluster.kubectl('label', 'namespace', 'shop', `${autonomyLabel}-`);
      }
    },
    { values: '  namespaceAutonomy: true' },
  );
}

/** The policies of both parts of the document, in one that selects the worker. */
function documentedPolicies(): string {
  const vetoes = documentedBlock('Marks of other tools', 'policies:', 'policies.md', 'yaml');
  const [, autonomy = ''] = /^ +(podAutonomy: .*)$/mu.exec(
    documentedBlock('Pods that ask to be kept', 'policies:', 'policies.md', 'yaml'),
  ) ?? [''];
  const policies = `${vetoes.replace('{ pool: gpu }', '{ site: store }')}\n    ${autonomy}`;
  if (!policies.includes('site: store') || autonomy === '') throw new Error('the policies of the document are others');
  return policies;
}

async function isKept(stage: Stage): Promise<Times> {
  const { timeline, cluster } = stage;
  const { podsThere, before } = await pullCable(stage);
  const unknown = await timeline.when('Unknown', 90, () => stage.isUnknown(node));
  await expectNever(stage, heldSeconds, 'NoExecute, although it is marked', () => stage.isTainted(node));
  timeline.mark('the mark is removed');
  await cluster.kubectl('annotate', 'node', node, `${mark}-`);
  const tainted = await timeline.when('NoExecute', 60, () => stage.isTainted(node));
  await expectNever(stage, askedSeconds, 'deletions of pods that ask to be kept', () => podsThere() < before);
  timeline.mark('the label is removed');
  await cluster.kubectl('label', 'namespace', 'shop', `${autonomyLabel}-`);
  const replaced = await timeline.when('4 of 4 serve', 120, () => stage.servingBeside('web', node) === 4);
  const well = await plugCable(stage);
  return { unknown, tainted, replaced, well };
}

export const keptPods: Story = {
  name: 'kept-pods',
  about:
    "a worker without a cable that Karpenter's mark keeps from being emptied, and then the label of its pods' namespace: each until it is removed",
  isComparable: false,
  run,
  // A label of a namespace counts within a minute; a pod starts.
  limits: { unknown: 52, tainted: 15, replaced: 75 },
};
