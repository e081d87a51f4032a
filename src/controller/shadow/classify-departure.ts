// Pods are deleted by people, drains, job controllers and quotas too. Only what the taints of its node explain is compared.
import { evictedByTaint } from '../../api/conditions.ts';
import type { PodView } from '../../api/pod.ts';
import { noExecuteTaints, type Taint } from '../../api/taints.ts';
import { parseTimestamp } from '../../api/timestamps.ts';
import { tolerates } from '../../api/tolerations.ts';

/** Why a pod is being deleted, as far as can be known. */
export type Departure = 'by-taint' | 'by-others';

/** Stamps have whole seconds, and the clocks of those who stamp and of ours may differ by as much. */
const skewMs = 2_000;

/**
 * The taint eviction controller says so in a condition before it deletes; another reason in that condition is somebody
 * else's. Where there is none (as before Kubernetes 1.26) it is the taints if the pod's patience with one of them is over.
 */
export function classifyDeparture(
  pod: Pick<PodView, 'disruptionReason' | 'tolerations'>,
  taints: readonly Taint[],
  wallMs: number,
): Departure {
  if (pod.disruptionReason !== undefined) {
    return pod.disruptionReason === evictedByTaint.reason ? 'by-taint' : 'by-others';
  }
  return noExecuteTaints(taints).some((taint) => isPatienceOver(pod, taint, wallMs)) ? 'by-taint' : 'by-others';
}

function isPatienceOver({ tolerations }: Pick<PodView, 'tolerations'>, taint: Taint, wallMs: number): boolean {
  const toleration = tolerations.find((candidate) => tolerates(candidate, taint));
  if (toleration === undefined) return true;
  if (typeof toleration.tolerationSeconds !== 'number') return false;
  const sinceMs = parseTimestamp(taint.timeAdded) ?? wallMs;
  return sinceMs + toleration.tolerationSeconds * 1_000 <= wallMs + skewMs;
}
