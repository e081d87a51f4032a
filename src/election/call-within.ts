import { ApiError } from '../api/api-error.ts';
import type { Clock } from '../ports/clock.ts';

export interface Limit {
  readonly clock: Clock;
  readonly ms: number;
  readonly signal: AbortSignal;
}

/**
 * The call's answer, or an ApiError: `timeout` after `ms` of monotonic time, `aborted` as soon as the signal aborts. The
 * call is told by its own signal, but we do not wait until it listens: a transport that sits on a dead connection must
 * not hold up a deadline. What it answers later is nobody's business any more.
 */
export async function callWithin<T>(limit: Limit, call: (signal: AbortSignal) => Promise<T>): Promise<T> {
  if (limit.signal.aborted) throw calledOff();
  const over = new AbortController();
  const stop = (): void => over.abort();
  limit.signal.addEventListener('abort', stop);
  try {
    return await Promise.race([expiry(limit, over.signal), call(over.signal)]);
  } finally {
    limit.signal.removeEventListener('abort', stop);
    over.abort();
  }
}

async function expiry({ clock, ms, signal }: Limit, over: AbortSignal): Promise<never> {
  await clock.sleep(ms, over);
  throw signal.aborted ? calledOff() : new ApiError({ reason: 'timeout', message: `no answer within ${ms} ms` });
}

function calledOff(): ApiError {
  return new ApiError({ reason: 'aborted', message: 'the call was called off' });
}
