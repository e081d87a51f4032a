// Pods that nobody else will ever take away: finished ones beyond what is worth keeping, and terminating or bound ones
// whose kubelet cannot finish the deletion because there is none. One rule a reason; it is asked when pods are chosen and
// once more before each is deleted.
import { findCondition } from '../../api/conditions.ts';
import type { NodeView } from '../../api/node.ts';
import type { PodView } from '../../api/pod.ts';
import type { Taint } from '../../api/taints.ts';
import type { PodGcReason } from '../decisions.ts';

/** Put on a node by a person who knows that it is down and its volumes may be detached. */
const outOfServiceTaintKey = 'node.kubernetes.io/out-of-service';

export type NodeLookup = (name: string) => Pick<NodeView, 'conditions' | 'taints'> | undefined;

type Rule = (pod: PodView, nodeOf: NodeLookup) => boolean;

const rules: Readonly<Record<PodGcReason, Rule>> = {
  terminated: isTerminated,
  'out-of-service': ({ terminating, nodeName }, nodeOf) => terminating && isOutOfService(nodeOf(nodeName)),
  orphaned: ({ nodeName }, nodeOf) => nodeName !== '' && nodeOf(nodeName) === undefined,
  unscheduled: ({ terminating, nodeName }) => terminating && nodeName === '',
};

/** Does this pod fall under this rule, and is there anything left that we can do about it? */
export function fallsUnder(why: PodGcReason, pod: PodView, nodeOf: NodeLookup): boolean {
  return rules[why](pod, nodeOf) && !isHeldByFinalizers(pod);
}

export interface Surplus {
  /** All that have finished. */
  readonly terminated: number;
  /** Those to delete, in that order. */
  readonly pods: readonly PodView[];
}

/**
 * The oldest finished pods beyond the threshold, evicted ones first (upstream `gcTerminated`). A threshold of 0 or less
 * keeps everything.
 */
export function decideTerminated(pods: Iterable<PodView>, threshold: number): Surplus {
  if (threshold <= 0) return { terminated: 0, pods: [] };
  const terminated = [...pods].filter(isTerminated);
  const surplus = Math.max(0, terminated.length - threshold);
  if (surplus === 0) return { terminated: terminated.length, pods: [] };
  const oldest = terminated.sort(compareForCollection).slice(0, surplus);
  return { terminated: terminated.length, pods: oldest.filter((pod) => !isHeldByFinalizers(pod)) };
}

/** The pods that fall under a rule, in the order in which they go. */
export function decideCollection(
  why: Exclude<PodGcReason, 'terminated'>,
  pods: Iterable<PodView>,
  nodeOf: NodeLookup,
): readonly PodView[] {
  return [...pods].filter((pod) => fallsUnder(why, pod, nodeOf)).sort(compareForCollection);
}

/** Its status must say Failed before it goes: no kubelet is left to say so (upstream `markFailedAndDeletePod`). */
export function mustFailFirst({ phase }: Pick<PodView, 'phase'>): boolean {
  return phase !== 'Succeeded' && phase !== 'Failed';
}

/** Upstream `isPodTerminated`: an unheard-of phase counts as an end. */
export function isTerminated({ phase }: Pick<PodView, 'phase'>): boolean {
  return phase !== 'Pending' && phase !== 'Running' && phase !== 'Unknown';
}

/** Any effect, any value; a node without a Ready condition is not ready (upstream `gcTerminating`). */
function isOutOfService(node: ReturnType<NodeLookup>): boolean {
  if (node === undefined || findCondition(node.conditions, 'Ready')?.status === 'True') return false;
  return node.taints.some(({ key }: Taint) => key === outOfServiceTaintKey);
}

/** Failed, and deleted without grace already: another deletion would change nothing, whoever set the finalizer must act. */
export function isHeldByFinalizers(pod: Pick<PodView, 'phase' | 'terminating' | 'deletionGraceSeconds'>): boolean {
  return pod.terminating && pod.deletionGraceSeconds === 0 && !mustFailFirst(pod);
}

/** Upstream `byEvictionAndCreationTimestamp`; the namespace decides last, so that the order is always the same. */
function compareForCollection(a: PodView, b: PodView): number {
  const evicted = Number(isEvicted(b)) - Number(isEvicted(a));
  if (evicted !== 0) return evicted;
  return a.createdAtMs - b.createdAtMs || compareText(a.name, b.name) || compareText(a.namespace, b.namespace);
}

function isEvicted({ phase, reason }: PodView): boolean {
  return phase === 'Failed' && reason === 'Evicted';
}

function compareText(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}
