import type { ApiError } from '../api/api-error.ts';

export const retriesMaxDefault = 10;
export const retryAfterMsMax = 60_000;
export const lostConnectionRetryMs = 1_000;

export interface Attempt {
  readonly method: string;
  readonly error: ApiError;
  /** There was a connection and it broke. */
  readonly lost: boolean;
  /** How often this request was sent again already. */
  readonly retries: number;
  readonly retriesMax: number;
}

/**
 * Milliseconds until the same request is sent once more, or undefined for not at all (client-go `withRetry`). Only two
 * reasons are good enough: the server said when, and a read lost its connection. A write whose fate is unknown is never
 * repeated in here; nor is anything at a server that is not there.
 */
export function retryWaitMs({ method, error, lost, retries, retriesMax }: Attempt): number | undefined {
  if (retries >= retriesMax || error.reason === 'aborted') return undefined;
  const refused = error.code === 429 || error.code >= 500;
  if (refused && error.retryAfterMs !== undefined) return Math.min(error.retryAfterMs, retryAfterMsMax);
  return lost && method === 'GET' ? lostConnectionRetryMs : undefined;
}
