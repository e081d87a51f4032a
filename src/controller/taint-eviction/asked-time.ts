import type { WriteOutcome } from '../model/commands.ts';

/**
 * How long the budget of a pod could be asked since the pod was due, which is what its timeout counts. Times are on the monotonic
 * clock.
 */
export interface AskedTime {
  /** The time until {@link notedAtMs}. */
  readonly ms: number;
  /** When it was counted last; undefined: never. */
  readonly notedAtMs: number | undefined;
  /** The budget could be asked then: so it could until it is counted again. */
  readonly couldAsk: boolean;
  /** The Eviction API was asked by this process. Until then the wait for a token of the policy is not counted. */
  readonly hasRequested: boolean;
  /** A request was a conflict, which says only that the pod has changed; two are as good as an answer. */
  readonly isContested: boolean;
}

export const neverAsked: AskedTime = {
  ms: 0,
  notedAtMs: undefined,
  couldAsk: true,
  hasRequested: false,
  isContested: false,
};

interface Moment {
  /** When the pod was due. */
  readonly dueMs: number;
  readonly nowMs: number;
}

/**
 * The time as of now. A process that never counted it counts from when the pod was due, which follows from the time in the taint:
 * the wait under another leader is not lost.
 */
export function askedMs({ ms, notedAtMs = -Infinity, couldAsk }: AskedTime, { dueMs, nowMs }: Moment): number {
  return ms + (couldAsk ? Math.max(0, nowMs - Math.max(dueMs, notedAtMs)) : 0);
}

/**
 * Counts until now. What is held when it is counted first has been held since before, as far as this process knows: no restart
 * turns a hold into time in which a budget was asked.
 */
export function countAsked(asked: AskedTime, canAsk: boolean, moment: Moment): AskedTime {
  const isHeldAtFirst = asked.notedAtMs === undefined && !canAsk;
  const ms = isHeldAtFirst ? 0 : askedMs(asked, moment);
  return { ...asked, ms, notedAtMs: moment.nowMs, couldAsk: canAsk };
}

/** A request to the Eviction API had this outcome. One that was not sent is none. */
export function noteRequest(asked: AskedTime, outcome: WriteOutcome): AskedTime {
  if (outcome.result !== 'failed')
    return outcome.result === 'refused' || outcome.result === 'written' ? { ...asked, hasRequested: true } : asked;
  if (outcome.reason === 'aborted') return asked;
  return outcome.reason === 'conflict' && !asked.isContested
    ? { ...asked, isContested: true }
    : { ...asked, hasRequested: true };
}

/** What remains of the time when the deadline moves: all of it to an earlier one, which begins nothing in the past; else nothing. */
export function moveAsked(asked: AskedTime, isLater: boolean, moment: Moment): AskedTime {
  const { nowMs: notedAtMs } = moment;
  const { couldAsk } = asked;
  if (isLater) return { ...neverAsked, notedAtMs, couldAsk };
  return { ...asked, ms: askedMs(asked, moment), notedAtMs };
}
