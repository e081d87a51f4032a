// How long a due deletion may be held, and how long it has been.
import { maximumOfHoldMs } from '../holds/decide-holds.ts';
import type { EvictionHold } from '../model/decisions.ts';

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
  return maximumOfHoldMs(why) === Infinity;
}

export function isAtMaximum({ why, heldMs }: Hold): boolean {
  return heldMs >= maximumOfHoldMs(why);
}
