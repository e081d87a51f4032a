// Eviction mode asks one question of a node: has it been without a Ready kubelet for longer than its pods may wait? A
// kubelet that says False itself is counted from the day it began to say so; one that is silent from its last sign of life.

/** What health knows of a node. Times are on health's own clock, which stands still while we are blind. */
export interface NodeStanding {
  /** Status of its Ready condition, or another word where there is none. */
  readonly ready: string;
  /** The last sign of life. */
  readonly heardAtMs: number;
  /** The last time the Ready condition changed. */
  readonly readyChangedAtMs: number;
}

export type PodEvictionDecision =
  /** Ready: whatever was planned is off. */
  | { readonly kind: 'cancel' }
  /** No answer that we know: nothing begins and nothing ends. */
  | { readonly kind: 'undecided' }
  /** `fromMs`: the first moment at which it would be evicted. */
  | { readonly kind: 'wait'; readonly fromMs: number }
  | { readonly kind: 'evict'; readonly unreadyMs: number };

/**
 * Whether a node's pods are to leave: after, not at, the end of the timeout (upstream `processNoTaintBaseEviction`, and
 * `monitorNodeStatus` before it).
 */
export function decidePodEviction(node: NodeStanding, timeoutMs: number, nowMs: number): PodEvictionDecision {
  if (node.ready === 'True') return { kind: 'cancel' };
  const sinceMs = unreadySinceMs(node);
  if (sinceMs === undefined) return { kind: 'undecided' };
  const unreadyMs = nowMs - sinceMs;
  return unreadyMs > timeoutMs ? { kind: 'evict', unreadyMs } : { kind: 'wait', fromMs: sinceMs + timeoutMs + 1 };
}

function unreadySinceMs({ ready, heardAtMs, readyChangedAtMs }: NodeStanding): number | undefined {
  if (ready === 'False') return readyChangedAtMs;
  return ready === 'Unknown' ? heardAtMs : undefined;
}
