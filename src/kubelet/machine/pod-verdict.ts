import type { Condition } from '../../api/conditions.ts';
import type { Pod } from '../../api/pod.ts';

/** What the kubelet itself has decided against a pod. */
export interface PodVerdict {
  /** Of the pod's status, with phase Failed; a pod that has succeeded before it stops keeps its phase. */
  readonly reason: string;
  readonly message: string;
  /** To be set on the pod, beside its own. */
  readonly condition: Condition;
  /** Instead of the pod's own grace period; undefined: its own. */
  readonly graceMs: number | undefined;
  /** True for an eviction: the pod is gone for good, even if it would have been restarted. */
  readonly evicted: boolean;
}

/** Stops a pod for a verdict. Resolves when nothing of the pod runs any more; a rejection is logged and passed over. */
export type PodKiller = (pod: Pod, verdict: PodVerdict, signal: AbortSignal) => Promise<void>;

/** Of pods that a kubelet ends by itself (upstream `PodReasonTerminationByKubelet`). */
export const terminationByKubelet = 'TerminationByKubelet';
