// Pods that no other component deletes: terminated ones beyond the threshold, and terminating or bound ones whose
// kubelet cannot complete the deletion because it no longer exists. One rule per reason; it is checked when pods are
// chosen and again before each is deleted.
import { compare } from '../../machinery/api/compare.ts';
import { findCondition } from '../../machinery/api/conditions.ts';
import type { NodeView } from '../../machinery/api/node.ts';
import { isCompleted, type PodView } from '../../machinery/api/pod.ts';
import { outOfServiceTaintKey, type Taint } from '../../machinery/api/taints.ts';
import type { PodGcReason } from '../model/decisions.ts';
import type { PodGcOptions } from '../model/options.ts';

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
  /** How many are more than may be kept: in the cluster, on their node, or for so long. Some are both. */
  readonly beyond: { readonly threshold: number; readonly perNode: number; readonly age: number };
  /** The pods to delete, in order. */
  readonly pods: readonly PodView[];
}

/**
 * The terminated pods that are not kept: those that completed too long ago, and the oldest beyond the number for their node, and
 * for the cluster (upstream `gcTerminated`); evicted ones first. A number of 0 or less, or no age, keeps all.
 */
export function decideTerminated(pods: Iterable<PodView>, options: PodGcOptions, wallMs: number): Surplus {
  const { terminatedPodGcThreshold: threshold, terminatedPodGcPerNode: perNode = 0, terminatedPodGcAgeMs } = options;
  if (threshold <= 0 && perNode <= 0 && terminatedPodGcAgeMs === undefined) return nothing;
  const all = [...pods].filter(isTerminated);
  const aged = new Set(all.filter((pod) => isCompleted(pod) && ageEndsMs(pod, options) <= wallMs));
  const left = all.filter((pod) => !aged.has(pod));
  const byNode = Map.groupBy(left.filter(isCompleted), ({ nodeName }) => nodeName);
  const crowded = [...byNode].flatMap(([node, some]) => (node === '' ? [] : oldestOf(some, perNode)));
  const beyondNode = new Set(crowded);
  const surplus = oldestOf(
    left.filter((pod) => !beyondNode.has(pod)),
    threshold,
  );
  const chosen = [...aged, ...crowded, ...surplus].sort(compareForCollection);
  return {
    terminated: all.length,
    beyond: { threshold: surplus.length, perNode: crowded.length, age: aged.size },
    pods: chosen.filter((pod) => !isHeldByFinalizers(pod)),
  };
}

const nothing: Surplus = { terminated: 0, beyond: { threshold: 0, perNode: 0, age: 0 }, pods: [] };

/** The first of these pods in the order of deletion, so that so many are kept; 0 or less keeps all. */
function oldestOf(pods: readonly PodView[], kept: number): readonly PodView[] {
  if (kept <= 0 || pods.length <= kept) return [];
  return pods.toSorted(compareForCollection).slice(0, pods.length - kept);
}

/**
 * Wall time from which a completed pod is too old; Infinity: never. It counts from the last transition of any of its conditions, by the clock
 * of its kubelet, and not from before its creation, which is by that of the API server.
 */
export function ageEndsMs(
  { completedAtSeconds = 0, createdAtSeconds }: Pick<PodView, 'completedAtSeconds' | 'createdAtSeconds'>,
  { terminatedPodGcAgeMs = Infinity }: PodGcOptions,
): number {
  return Math.max(completedAtSeconds, createdAtSeconds) * 1_000 + terminatedPodGcAgeMs;
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
