// Mode Detect: a worker without a cable is reported, and keeps its pods in their Services until the time of its policy is over.
import { documentedBlock } from '../documented-blocks.ts';
import type { Stage } from '../stage.ts';
import { isServing } from '../timeline.ts';
import type { Story, Times } from './story.ts';
import { plugCable, pullCable, storeNode as node, withPolicies } from './with-policies.ts';

/** In place of the day of the document. */
const evictAfterSeconds = 90;
/** Times in taints have whole seconds, and nodes are looked at once a second. */
const earlySeconds = 3;

async function run(stage: Stage): Promise<Times> {
  return withPolicies(stage, documentedPolicies(), async () => isKept(stage));
}

/** The policy of the document, with an end that is near. */
function documentedPolicies(): string {
  const documented = documentedBlock('`mode`', 'policies:', 'policies.md', 'yaml');
  const policies = documented.replace('evictAfter: 24h', `evictAfter: ${evictAfterSeconds}s`);
  if (policies === documented) throw new Error('the policy of the document has another end');
  return policies;
}

async function isKept(stage: Stage): Promise<Times> {
  const { timeline } = stage;
  const { podsThere, before } = await pullCable(stage);
  const unknown = await timeline.when('Unknown', 90, () => stage.isUnknown(node));
  timeline.mark(`${node} is Unknown`);
  const tainted = await timeline.when('NoExecute', evictAfterSeconds + 40, () => {
    const isTainted = stage.isTainted(node);
    if (!isTainted && (podsThere() < before || timeline.podsOf('web').filter(isServing).length < 4))
      throw new Error(`pods of ${node} were evicted or marked before its policy says so`);
    return isTainted;
  });
  if (tainted < evictAfterSeconds - earlySeconds) throw new Error(`tainted after ${tainted} s`);
  const replaced = await timeline.when('4 of 4 serve', 120, () => stage.servingBeside('web', node) === 4);
  const well = await plugCable(stage);
  return { unknown, tainted, replaced, well };
}

export const detect: Story = {
  name: 'detect',
  about:
    'mode Detect with an end of 90 s: a worker without a cable is Unknown, and keeps its pods in their Services until then',
  isComparable: false,
  run,
  // A token of the zone is there; 20 s are tolerated; a pod starts.
  limits: { unknown: 52, tainted: 100, replaced: 136 },
};
