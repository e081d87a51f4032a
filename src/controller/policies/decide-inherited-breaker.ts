// Decides whether a breaker that the previous leader opened is still open, from what the nodes show.
import type { Now } from '../model/node-state.ts';
import type { PolicyLimits, UnhealthyCount } from '../model/policy.ts';
import { excessOf, isReset, type OpenBreaker } from './decide-breaker.ts';

/** A healthy node of the policy. */
export interface ReadyNode {
  /** Wall time since which the node is Ready. */
  readonly sinceMs: number;
  readonly createdAtMs: number;
}

/**
 * The breaker of a policy that is in its cooldown when a process begins to lead; undefined: none. A node that became Ready
 * within the cooldown was unhealthy before, unless it was created within it too. If these nodes and those that are unhealthy
 * now are more than the limit, the cooldown began when enough of them had recovered. They may not have been unhealthy at the
 * same time, so this may find a breaker that was not open; it closes within one cooldown.
 */
export function decideInheritedBreaker(
  nodes: Iterable<ReadyNode>,
  count: UnhealthyCount,
  limits: PolicyLimits,
  now: Now,
): OpenBreaker | undefined {
  const fromMs = now.wallMs - limits.cooldownMs;
  const recoveries = [...nodes]
    .filter(({ sinceMs, createdAtMs }) => sinceMs > fromMs && createdAtMs <= fromMs)
    .map(({ sinceMs }) => Math.min(sinceMs, now.wallMs))
    .sort((a, b) => b - a);
  // The count is at the limit after this recovery, and was above it before.
  const recoveredAtMs = recoveries[-excessOf(count, limits)];
  if (recoveredAtMs === undefined) return undefined;
  const open = {
    openedAtMs: recoveredAtMs,
    recoveredAtMs: now.monotonicMs - (now.wallMs - recoveredAtMs),
  };
  return isReset(open, limits, now) ? undefined : open;
}
