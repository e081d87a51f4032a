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
  /** Time for which `why` has held the deletion, in all; for `node-is-ready`, since the node became Ready. */
  readonly heldMs: number;
  /** What other reasons have held it before. */
  readonly before: Readonly<Partial<Record<EvictionHold, number>>>;
  /** The time in the Ready condition when `node-is-ready` was last found; undefined: none. */
  readonly readySince: string | undefined;
}

/**
 * The hold, found again for this reason. Time adds up, so that a reason that comes and goes, or that another one interrupts, has an
 * end too. Only a node that becomes Ready again begins a new one, as its taint is about to be removed: `readySince` is the time
 * in its Ready condition.
 */
export function extendHold(hold: Hold | undefined, why: EvictionHold, atMs: number, readySince?: string): Hold {
  if (hold === undefined) return { why, atMs, heldMs: 0, before: {}, readySince };
  const isOtherReady = why === 'node-is-ready' && hold.readySince !== readySince;
  const next = { why, atMs, readySince: why === 'node-is-ready' ? readySince : hold.readySince };
  if (hold.why === why) {
    const heldMs = isOtherReady ? 0 : hold.heldMs + (atMs - hold.atMs);
    return { ...next, heldMs, before: hold.before };
  }
  const before = { ...hold.before, [hold.why]: hold.heldMs };
  return { ...next, heldMs: isOtherReady ? 0 : (before[why] ?? 0), before };
}

/** A hold for the same reason, for another maximum period. */
export function renewHold({ why, readySince }: Hold, atMs: number): Hold {
  return { why, atMs, heldMs: 0, before: {}, readySince };
}

/** Whether this reason has no maximum here: it ends where it is detected, for all pods of the node together. */
export function isUnbounded(why: EvictionHold): boolean {
  return holdMaximumMs[why] === Infinity;
}

export function isAtMaximum({ why, heldMs }: Hold): boolean {
  return heldMs >= holdMaximumMs[why];
}
