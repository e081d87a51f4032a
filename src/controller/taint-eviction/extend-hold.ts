// How long a due deletion may be held, and how long it has been.
import type { EvictionHold } from '../model/decisions.ts';

/**
 * The maximum hold of each reason, in milliseconds. After that the node is read live and the result decides: at once
 * where lists replace a watch (`late-cache`), because they show a recovery late. `stale`,
 * `stale-pods` and `full-disruption` are bounded where they are detected, not here: while they last, there is no better evidence;
 * `maintenance` is bounded by its policy, and `breaker` ends with the number of unhealthy nodes. `observed` and `paused` are an
 * administrator's decision, which no evidence ends.
 */
const holdMaximumMs: Readonly<Record<EvictionHold, number>> = {
  'node-is-ready': 5 * 60_000,
  'lease-is-renewed': 5 * 60_000,
  'late-cache': 0,
  'full-disruption': Infinity,
  stale: Infinity,
  'stale-pods': Infinity,
  maintenance: Infinity,
  breaker: Infinity,
  observed: Infinity,
  paused: Infinity,
};

/** A deletion that is due and is held back. */
export interface Hold {
  readonly why: EvictionHold;
  /** Time at which the deletion was last found to be held, on the monotonic clock. */
  readonly atMs: number;
  /** Time for which `why` has held the deletion: without a break for `node-is-ready`, in all for the others. */
  readonly heldMs: number;
  /** What other reasons have held it before. */
  readonly before: Readonly<Partial<Record<EvictionHold, number>>>;
}

/**
 * The hold, found again for this reason. A node that becomes Ready begins a new hold, as its taint is about to be
 * removed; time with renewed leases adds up, so that a reason that comes and goes has an end too.
 */
export function extendHold(hold: Hold | undefined, why: EvictionHold, atMs: number): Hold {
  if (hold === undefined) return { why, atMs, heldMs: 0, before: {} };
  if (hold.why === why) return { ...hold, atMs, heldMs: hold.heldMs + (atMs - hold.atMs) };
  const before = { ...hold.before, [hold.why]: hold.heldMs };
  return { why, atMs, heldMs: why === 'node-is-ready' ? 0 : (before[why] ?? 0), before };
}

/** A hold for the same reason, for another maximum period. */
export function renewHold({ why }: Hold, atMs: number): Hold {
  return { why, atMs, heldMs: 0, before: {} };
}

/** Whether this reason has no maximum here: it ends where it is detected, for all pods of the node together. */
export function isUnbounded(why: EvictionHold): boolean {
  return holdMaximumMs[why] === Infinity;
}

export function isAtMaximum({ why, heldMs }: Hold): boolean {
  return heldMs >= holdMaximumMs[why];
}
