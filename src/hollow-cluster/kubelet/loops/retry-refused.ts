import { ApiError } from '../../../machinery/api/api-error.ts';
import type { Clock } from '../../../machinery/ports/clock.ts';

/** Maximum number of tries of one write, including the first. */
export const refusedTriesMax = 10;
const refusedWaitMsMin = 100;

/**
 * Retries a write while the API server rejects it with Retry-After, after that delay, up to ten tries. Rejects with the
 * last ApiError, at once with any other error, and when the signal aborts.
 */
export async function retryRefused<T>(write: () => Promise<T>, clock: Clock, signal: AbortSignal): Promise<T> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await write();
    } catch (error) {
      const delayMs = error instanceof ApiError ? error.retryAfterMs : undefined;
      if (delayMs === undefined || tries >= refusedTriesMax || signal.aborted) throw error;
      await clock.sleep(Math.max(delayMs, refusedWaitMsMin), signal);
    }
  }
}
