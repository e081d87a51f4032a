import type { ApiError } from '../api/api-error.ts';
import type { Random } from '../ports/random.ts';

export const retriesMaxDefault = 10;
export const retryAfterMsMax = 60_000;
export const lostConnectionRetryMs = 1_000;
/** Up to this share on top of what the server asked for: those it turned away together must not come back together. */
export const retryJitter = 0.2;

export interface Attempt {
  readonly method: string;
  readonly error: ApiError;
  /** There was a connection and it broke. */
  readonly lost: boolean;
  /** The credentials were refused, others may be there by now, and that was the first time. */
  readonly renewable: boolean;
  /** How often this request was sent again already. */
  readonly retries: number;
  readonly retriesMax: number;
  readonly random: Random;
}

/**
 * Milliseconds until the same request is sent once more, or undefined for not at all (client-go `withRetry`). Only three
 * reasons are good enough: the server said when; a read lost its connection; a read was refused with credentials that
 * are not the last ones. A write whose fate is unknown is never repeated in here; nor is anything at a server that is not
 * there.
 */
export function retryWaitMs(attempt: Attempt): number | undefined {
  const { method, error, lost, renewable, retries, retriesMax, random } = attempt;
  if (retries >= retriesMax || error.reason === 'aborted') return undefined;
  const refused = error.code === 429 || error.code >= 500;
  if (refused && error.retryAfterMs !== undefined) {
    return Math.min(error.retryAfterMs, retryAfterMsMax) * (1 + retryJitter * random.next());
  }
  if (method !== 'GET') return undefined;
  if (renewable) return 0;
  return lost ? lostConnectionRetryMs : undefined;
}
