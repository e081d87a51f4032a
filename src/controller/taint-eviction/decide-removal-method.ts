import type { EvictAt } from './decide-eviction.ts';

/** How a pod is removed from its node: by a deletion, or by the Eviction API, which asks its PodDisruptionBudgets. */
export type RemovalMethod = 'delete' | 'evict';

/** `await-responder`: neither is requested now. */
export type RemovalStep = RemovalMethod | 'await-responder';

interface RemovalEvidence {
  /** How long a budget may hold the pod, by its policy. */
  readonly timeoutMs: number;
  /** How long its budget could be asked since it was due. */
  readonly askedMs: number;
  /** This process has asked it. */
  readonly hasRequested: boolean;
  /** The node of the pod is not Ready for another reason than silence. */
  readonly isReachable: boolean;
  /** A responder of its Eviction sends heartbeats. */
  readonly hasResponder: boolean;
}

/**
 * Method of removal where a policy asks budgets: for the health of a reachable node the Eviction API, until its budget could be
 * asked for the timeout, and was asked once: a new leader does not know which of the time before was held. Pods of an unreachable
 * node cannot be shut down in order anyway, and taints of other clients are to delete. A responder replaces the question until the
 * timeout, which goes on meanwhile.
 */
export function decideRemovalMethod(
  { forHealth }: Pick<EvictAt, 'forHealth'>,
  { timeoutMs, askedMs, hasRequested, isReachable, hasResponder }: RemovalEvidence,
): RemovalStep {
  if (!isReachable || !forHealth) return 'delete';
  if (askedMs < timeoutMs && hasResponder) return 'await-responder';
  return askedMs < timeoutMs || !hasRequested ? 'evict' : 'delete';
}
