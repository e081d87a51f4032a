import type { ApiError } from '../api/api-error.ts';
import type { Random } from '../ports/random.ts';

export const retriesMaxDefault = 10;
export const retryAfterMsMax = 60_000;
const lostConnectionRetryMs = 1_000;
/** Total time in milliseconds that one read may wait for its retries, including Retry-After. */
export const readWaitMsMax = 60_000;
/** Maximum share added to Retry-After: clients that were rejected together must not retry together. */
const retryJitter = 0.2;

interface RequestAttempt {
  readonly method: string;
  readonly error: ApiError;
  /** An established connection broke. */
  readonly lost: boolean;
  /** The credentials were rejected for the first time, and others may be available. */
  readonly renewable: boolean;
  /** Number of retries of this request so far. */
  readonly retries: number;
  readonly retriesMax: number;
  /** Remaining time that this request may wait for retries. 0: only an immediate retry. */
  readonly waitMsLeft: number;
  readonly random: Random;
}

/**
 * Milliseconds until the request is retried, or undefined for no retry. A write is never retried: its caller decides
 * whether it is still needed, and waits for Retry-After outside the write slots (client-go's `withRetry` retries writes
 * too). A read is retried for three reasons: the server sent Retry-After, the connection was lost, or other credentials
 * may be accepted.
 */
export function retryWaitMs(attempt: RequestAttempt): number | undefined {
  const { method, error, lost, renewable, retries, retriesMax } = attempt;
  if (method !== 'GET' || retries >= retriesMax || error.reason === 'aborted') return undefined;
  if (renewable) return 0;
  return lost ? lostWaitMs(attempt) : refusedWaitMs(attempt);
}

/** After a lost connection a read gets one immediate retry even if it may not wait. */
function lostWaitMs({ retries, waitMsLeft }: RequestAttempt): number | undefined {
  if (lostConnectionRetryMs < waitMsLeft) return lostConnectionRetryMs;
  return retries === 0 ? 0 : undefined;
}

function refusedWaitMs({ error, waitMsLeft, random }: RequestAttempt): number | undefined {
  if (error.retryAfterMs === undefined || (error.code !== 429 && error.code < 500)) return undefined;
  const waitMs = Math.min(error.retryAfterMs, retryAfterMsMax) * (1 + retryJitter * random.next());
  return waitMs < waitMsLeft ? waitMs : undefined;
}
