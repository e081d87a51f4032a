// Decides whether the breaker of a policy is open, from the number of its unhealthy nodes.
import type { Now } from '../model/node-state.ts';
import type { MaxUnhealthy, PolicyLimits, UnhealthyCount } from '../model/policy.ts';

/** A breaker that is open. */
export interface OpenBreaker {
  /** Wall time. */
  readonly openedAtMs: number;
  /** Time since which not too many nodes are unhealthy, on the health clock; undefined: too many are. */
  readonly recoveredAtMs: number | undefined;
}

/** More unhealthy nodes than this open the breaker. A share of the nodes is rounded down: 40 % of 8 nodes are 3. */
export function limitOf({ percent = 0, count = 0 }: Readonly<Partial<MaxUnhealthy>>, nodes: number): number {
  return Math.max(Math.floor((nodes * percent) / 100), count);
}

/** How many more nodes than the limit allows are unhealthy; 0 or less: not too many. */
export function excessOf({ nodes, unhealthy, exempt }: UnhealthyCount, { maxUnhealthy }: PolicyLimits): number {
  return unhealthy - exempt - limitOf(maxUnhealthy, nodes);
}

/**
 * The breaker after this count; undefined: closed. It is open while too many nodes are unhealthy and for the cooldown
 * afterwards, which starts again whenever too many are. A reset ends an opening until its time. The same object is
 * returned if nothing changed.
 */
export function decideBreaker(
  before: OpenBreaker | undefined,
  count: UnhealthyCount,
  limits: PolicyLimits,
  now: Now,
): OpenBreaker | undefined {
  const open = before !== undefined && isReset(before, limits, now) ? undefined : before;
  if (excessOf(count, limits) <= 0) return open && coolDown(open, limits, now);
  // An opening of this very moment is not reset into another one: they would be the same, without end.
  return openAgain(before?.openedAtMs === now.wallMs ? before : open, now);
}

function openAgain(open: OpenBreaker | undefined, { wallMs }: Now): OpenBreaker {
  if (open === undefined) return { openedAtMs: wallMs, recoveredAtMs: undefined };
  return open.recoveredAtMs === undefined ? open : { ...open, recoveredAtMs: undefined };
}

function coolDown(open: OpenBreaker, { cooldownMs }: PolicyLimits, { monotonicMs }: Now): OpenBreaker | undefined {
  const { openedAtMs, recoveredAtMs = monotonicMs } = open;
  if (monotonicMs >= recoveredAtMs + cooldownMs) return undefined;
  return open.recoveredAtMs === undefined ? { openedAtMs, recoveredAtMs } : open;
}

/**
 * Time at which a breaker closes, on the health clock, if no further node becomes unhealthy; Infinity: too many are
 * unhealthy.
 */
export function endOfBreakerMs({ recoveredAtMs }: OpenBreaker, { cooldownMs }: PolicyLimits): number {
  return recoveredAtMs === undefined ? Infinity : recoveredAtMs + cooldownMs;
}

/** Whether a reset ends this opening. */
export function isReset({ openedAtMs }: OpenBreaker, { resetAtMs }: PolicyLimits, { wallMs }: Now): boolean {
  return resetAtMs !== undefined && openedAtMs <= resetAtMs && resetAtMs <= wallMs;
}
