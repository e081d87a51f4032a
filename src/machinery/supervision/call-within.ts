import { ApiError } from '../api/api-error.ts';
import type { Clock } from '../ports/clock.ts';
import { abortReason, LinkedAbort } from './abort.ts';

interface CallLimit {
  readonly clock: Clock;
  readonly ms: number;
  readonly signal: AbortSignal;
}

/**
 * The result of the call, or an ApiError: `timeout` after `ms` of monotonic time, `aborted` as soon as the signal aborts.
 * The call's own signal is aborted too, but the call is not awaited: a transport that hangs on a dead connection must not
 * delay a deadline. A later result is discarded.
 */
export async function callWithin<T>(limit: CallLimit, call: (signal: AbortSignal) => Promise<T>): Promise<T> {
  if (limit.signal.aborted) throw abortedError();
  const link = new LinkedAbort(limit.signal);
  try {
    // The call comes first: if it throws synchronously, no timer is left.
    const result = await Promise.race([call(link.signal), expiry(limit, link.signal)]);
    if (result !== expired) return result;
    throw limit.signal.aborted ? abortedError() : timeoutError(limit.ms);
  } finally {
    link.release();
    link.abort();
  }
}

const expired = Symbol('expired');

/** Resolves also when the call has ended, so it must not make an error. */
async function expiry({ clock, ms }: CallLimit, signal: AbortSignal): Promise<typeof expired> {
  await clock.sleep(ms, signal);
  return expired;
}

function timeoutError(ms: number): ApiError {
  return new ApiError({ reason: 'timeout', message: `no response within ${ms} ms` });
}

function abortedError(): ApiError {
  return new ApiError({ reason: 'aborted', message: 'the call was aborted' });
}

interface CallCondition {
  readonly clock: Clock;
  /** Time between two checks. */
  readonly everyMs: number;
  /** Must not throw. */
  readonly isWanted: () => boolean;
}

/** The result of the call. Its signal aborts when a check finds that it is not wanted any more. */
export async function callWhile<T>(condition: CallCondition, call: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const ended = new AbortController();
  const unwanted = new AbortController();
  void abortWhenUnwanted(condition, unwanted, ended.signal);
  try {
    return await call(unwanted.signal);
  } finally {
    ended.abort(abortReason);
  }
}

async function abortWhenUnwanted(
  condition: CallCondition,
  unwanted: AbortController,
  ended: AbortSignal,
): Promise<void> {
  const { clock, everyMs, isWanted } = condition;
  while (!ended.aborted && !unwanted.signal.aborted) {
    await clock.sleep(everyMs, ended);
    if (!ended.aborted && !isWanted()) unwanted.abort(abortReason);
  }
}
