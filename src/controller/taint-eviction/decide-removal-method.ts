import type { EvictAt } from './decide-eviction.ts';

/** How a pod is removed from its node: by a deletion, or by the Eviction API, which asks its PodDisruptionBudgets. */
export type RemovalMethod = 'delete' | 'evict';

interface RemovalEvidence {
  /** How long after it was due a budget may hold the pod; undefined: its policy does not ask budgets. */
  readonly timeoutMs: number | undefined;
  /** When something last held the pod although it was due: then no budget could be asked. */
  readonly heldAtMs?: number | undefined;
  /** The node of the pod is not Ready for another reason than silence. */
  readonly isReachable: boolean;
  /** Current time on the monotonic clock. */
  readonly nowMs: number;
}

/**
 * Method of removal: for the health of a reachable node the Eviction API, until the timeout. It counts from the
 * deadline, which follows from the time in the taint, so that a restart loses nothing, or from the end of a hold. Pods
 * of an unreachable node cannot be shut down in order anyway, and taints of other clients are to delete.
 */
export function decideRemovalMethod(
  { atMs, forHealth }: Pick<EvictAt, 'atMs' | 'forHealth'>,
  { timeoutMs, heldAtMs, isReachable, nowMs }: RemovalEvidence,
): RemovalMethod {
  if (timeoutMs === undefined || !isReachable || !forHealth) return 'delete';
  return nowMs < startOfTimeoutMs(atMs, heldAtMs) + timeoutMs ? 'evict' : 'delete';
}

/** Time from which a budget may hold a pod that is due at `atMs`. */
export function startOfTimeoutMs(atMs: number, heldAtMs = -Infinity): number {
  return Math.max(atMs, heldAtMs);
}
