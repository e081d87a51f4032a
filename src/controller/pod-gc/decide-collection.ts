// Pods that no other component deletes: terminated ones beyond the threshold, and terminating or bound ones whose
// kubelet cannot complete the deletion because it no longer exists. One rule per reason; it is checked when pods are
// chosen and again before each is deleted.
import { compare } from '../../machinery/api/compare.ts';
import { findCondition } from '../../machinery/api/conditions.ts';
import type { NodeView } from '../../machinery/api/node.ts';
import { isCompleted, type PodView } from '../../machinery/api/pod.ts';
import { outOfServiceTaintKey, type Taint } from '../../machinery/api/taints.ts';
import type { PodGcReason } from '../model/decisions.ts';

export type NodeLookup = (name: string) => Pick<NodeView, 'conditions' | 'taints'> | undefined;

type Rule = (pod: PodView, nodeOf: NodeLookup) => boolean;

const rules: Readonly<Record<PodGcReason, Rule>> = {
  terminated: isTerminated,
  'out-of-service': ({ terminating, nodeName }, nodeOf) => terminating && isOutOfService(nodeOf(nodeName)),
  orphaned: ({ nodeName }, nodeOf) => nodeName !== '' && nodeOf(nodeName) === undefined,
  unscheduled: ({ terminating, nodeName }) => terminating && nodeName === '',
};

/** Whether a rule applies to a pod, and a deletion would have an effect. */
export function fallsUnder(why: PodGcReason, pod: PodView, nodeOf: NodeLookup): boolean {
  return rules[why](pod, nodeOf) && !isHeldByFinalizers(pod);
}

interface Surplus {
  /** Number of all terminated pods. */
  readonly terminated: number;
  /** The pods to delete, in order. */
  readonly pods: readonly PodView[];
}

/**
 * The oldest terminated pods beyond the threshold, evicted ones first (upstream `gcTerminated`). A threshold of 0 or
 * less keeps all.
 */
export function decideTerminated(pods: Iterable<PodView>, threshold: number): Surplus {
  if (threshold <= 0) return { terminated: 0, pods: [] };
  const terminated = [...pods].filter(isTerminated);
  const surplus = Math.max(0, terminated.length - threshold);
  if (surplus === 0) return { terminated: terminated.length, pods: [] };
  const oldest = terminated.sort(compareForCollection).slice(0, surplus);
  return { terminated: terminated.length, pods: oldest.filter((pod) => !isHeldByFinalizers(pod)) };
}

/** The pods to which a rule applies, in the order of deletion. */
export function decideCollection(
  why: Exclude<PodGcReason, 'terminated'>,
  pods: Iterable<PodView>,
  nodeOf: NodeLookup,
): readonly PodView[] {
  return [...pods].filter((pod) => fallsUnder(why, pod, nodeOf)).sort(compareForCollection);
}

/**
 * Whether the phase of a pod must become Failed before the deletion: no kubelet is left to write it (upstream
 * `markFailedAndDeletePod`).
 */
export function mustFailFirst(pod: Pick<PodView, 'phase'>): boolean {
  return !isCompleted(pod);
}

/** Upstream `isPodTerminated`: an unrecognized phase counts as terminated. */
export function isTerminated({ phase }: Pick<PodView, 'phase'>): boolean {
  return phase !== 'Pending' && phase !== 'Running' && phase !== 'Unknown';
}

/** Any effect, any value; a node without a Ready condition is not ready (upstream `gcTerminating`). */
function isOutOfService(node: ReturnType<NodeLookup>): boolean {
  if (node === undefined || findCondition(node.conditions, 'Ready')?.status === 'True') return false;
  return node.taints.some(({ key }: Taint) => key === outOfServiceTaintKey);
}

/**
 * Failed, and already deleted without a grace period: another deletion has no effect, the owner of the finalizer must
 * act.
 */
export function isHeldByFinalizers(pod: Pick<PodView, 'phase' | 'terminating' | 'deletionGraceSeconds'>): boolean {
  return pod.terminating && pod.deletionGraceSeconds === 0 && !mustFailFirst(pod);
}

/** Upstream `byEvictionAndCreationTimestamp`; the namespace decides last, so that the order is deterministic. */
function compareForCollection(a: PodView, b: PodView): number {
  const evicted = Number(isEvicted(b)) - Number(isEvicted(a));
  if (evicted !== 0) return evicted;
  return a.createdAtSeconds - b.createdAtSeconds || compare(a.name, b.name) || compare(a.namespace, b.namespace);
}

function isEvicted({ phase, reason }: PodView): boolean {
  return phase === 'Failed' && reason === 'Evicted';
}
