// Pods are also deleted by users, drains, job controllers and quotas. Only deletions explained by the taints of their
// node are compared.
import { evictedByTaint } from '../../machinery/api/conditions.ts';
import type { PodView } from '../../machinery/api/pod.ts';
import { noExecuteTaints, type Taint } from '../../machinery/api/taints.ts';
import { parseTimestamp } from '../../machinery/api/timestamps.ts';
import { type Toleration, tolerationFinder } from '../../machinery/api/tolerations.ts';

/** Why a pod is being deleted, as far as known. */
type DeletionCause = 'by-taint' | 'by-others';

/** API timestamps have whole seconds, and clocks may differ by as much. */
const skewMs = 2_000;

/**
 * The taint eviction controller sets a condition before a deletion; another reason in that condition means another
 * component. Without the condition (as before Kubernetes 1.26) the taints are the cause if the pod's toleration of one
 * of them has ended.
 */
export function classifyDeletion(
  pod: Pick<PodView, 'disruptionReason' | 'tolerations'>,
  taints: readonly Taint[],
  wallMs: number,
): DeletionCause {
  if (pod.disruptionReason !== undefined) {
    return pod.disruptionReason === evictedByTaint.reason ? 'by-taint' : 'by-others';
  }
  const present = noExecuteTaints(taints);
  const find = tolerationFinder(pod.tolerations, present.length);
  return present.some((taint) => isTolerationOver(find(taint), taint, wallMs)) ? 'by-taint' : 'by-others';
}

function isTolerationOver(toleration: Toleration | undefined, taint: Taint, wallMs: number): boolean {
  if (toleration === undefined) return true;
  if (typeof toleration.tolerationSeconds !== 'number') return false;
  const sinceMs = parseTimestamp(taint.timeAdded) ?? wallMs;
  return sinceMs + toleration.tolerationSeconds * 1_000 <= wallMs + skewMs;
}
