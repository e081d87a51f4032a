// Eviction mode: decides whether a node was without Ready=True for longer than the pod eviction timeout. Ready=False
// counts from the transition, silence from the last heartbeat.

/** Health of a node. Times are on the health clock, which stands still while watches are stale. */
export interface NodeReadiness {
  /** Status of its Ready condition, or another word where there is none. */
  readonly ready: string;
  /** The last heartbeat. */
  readonly heartbeatAtMs: number;
  /** The last time the Ready condition changed. */
  readonly readyChangedAtMs: number;
}

export type PodEvictionDecision =
  /** Ready: cancels a planned eviction. */
  | { readonly kind: 'cancel' }
  /** Unknown status value: nothing changes. */
  | { readonly kind: 'undecided' }
  /** `fromMs`: the earliest time of an eviction. */
  | { readonly kind: 'wait'; readonly fromMs: number }
  | { readonly kind: 'evict'; readonly unreadyMs: number };

/**
 * Whether a node's pods are to be deleted: after, not at, the end of the timeout (upstream
 * `processNoTaintBaseEviction`, and `monitorNodeStatus` before it).
 */
export function decidePodEviction(node: NodeReadiness, timeoutMs: number, nowMs: number): PodEvictionDecision {
  if (node.ready === 'True') return { kind: 'cancel' };
  const sinceMs = unreadySinceMs(node);
  if (sinceMs === undefined) return { kind: 'undecided' };
  const unreadyMs = nowMs - sinceMs;
  return unreadyMs > timeoutMs ? { kind: 'evict', unreadyMs } : { kind: 'wait', fromMs: sinceMs + timeoutMs + 1 };
}

function unreadySinceMs({ ready, heartbeatAtMs, readyChangedAtMs }: NodeReadiness): number | undefined {
  if (ready === 'False') return readyChangedAtMs;
  return ready === 'Unknown' ? heartbeatAtMs : undefined;
}
