import Bottleneck from 'bottleneck';
import { ApiError } from '../api/api-error.ts';

export const waitingMax = 10_000;
const refillMs = 250;

export interface RateLimitOptions {
  /** Requests a second in the long run; 0 or less: no limit. */
  readonly qps: number;
  /** Requests at once after a rest. */
  readonly burst: number;
}

/**
 * The client side limit (client-go `flowcontrol.NewTokenBucketRateLimiter`, with bottleneck's reservoir as the bucket).
 * First come, first served. The bucket is filled every quarter of a second, so a wait may be that much too long.
 */
export class HttpRateLimit {
  readonly #limiter: Bottleneck | undefined;

  constructor({ qps, burst }: RateLimitOptions) {
    if (qps <= 0) return;
    this.#limiter = new Bottleneck({
      reservoir: Math.max(1, burst),
      reservoirIncreaseInterval: refillMs,
      reservoirIncreaseAmount: (qps * refillMs) / 1_000,
      reservoirIncreaseMaximum: Math.max(1, burst),
      highWater: waitingMax,
      strategy: Bottleneck.strategy.OVERFLOW,
    });
  }

  /**
   * Resolves when one more request may go. Rejects with an ApiError: `aborted` with the signal, `too-many-requests`
   * where {@link waitingMax} requests wait already.
   */
  async pass(signal: AbortSignal): Promise<void> {
    if (signal.aborted) throw abortedError();
    if (this.#limiter === undefined) return;
    const turn = this.#limiter.schedule(async () => undefined).catch(overflow);
    await turnOrAborted(turn, signal);
  }

  /** Ends the refilling. Requests that wait are let go; their own signals end them. */
  async close(): Promise<void> {
    await this.#limiter?.disconnect();
  }
}

function overflow(cause: unknown): never {
  const message = `more than ${waitingMax} requests wait for the client side rate limit`;
  throw new ApiError({ reason: 'too-many-requests', message, cause });
}

async function turnOrAborted(turn: Promise<undefined>, signal: AbortSignal): Promise<void> {
  const aborted = Promise.withResolvers<never>();
  const abort = (): void => aborted.reject(abortedError());
  signal.addEventListener('abort', abort);
  try {
    await Promise.race([turn, aborted.promise]);
  } finally {
    signal.removeEventListener('abort', abort);
  }
}

function abortedError(): ApiError {
  return new ApiError({ reason: 'aborted', message: 'given up while waiting for the client side rate limit' });
}
