import { ApiError } from '../api/api-error.ts';
import type { Clock } from '../ports/clock.ts';
import type { WriteLane } from '../ports/write-lanes.ts';
import { FairQueue } from '../queueing/fair-queue.ts';
import { TokenBucket } from '../queueing/token-bucket.ts';

/** Maximum number of waiting requests. */
export const waitingMax = 10_000;
/**
 * A timer that fires up to this late, in milliseconds, loses no tokens: requests that became due meanwhile are sent at
 * once. After a longer stall only the burst is available.
 */
const lateTimerMsMax = 100;

interface RateLimitOptions {
  /** Sustained requests per second; 0 or less: no limit. */
  readonly qps: number;
  /** Requests at once after an idle period; at least 1. */
  readonly burst: number;
  readonly clock: Pick<Clock, 'monotonicMs' | 'sleep'>;
}

/** The share of the rate that a request uses. */
type RequestFlow = WriteLane | 'read';

/** Shares of the rate while requests of every flow wait; an empty flow leaves its share to the others. */
const weights: Readonly<Record<RequestFlow, number>> = {
  recovery: 4,
  detection: 4,
  tainting: 4,
  read: 4,
  eviction: 2,
  housekeeping: 1,
};

interface Waiter {
  readonly grant: () => void;
  readonly abort: () => void;
}

/**
 * The client-side rate limit (client-go `flowcontrol.NewTokenBucketRateLimiter`), exact at any rate and burst. Each flow
 * has its share of the rate, and within a flow the oldest request is first: recovery never waits behind many other
 * writes. It uses only the monotonic clock, so a step of the wall clock has no effect. There is one timer, for the next
 * token, and none while no request waits.
 */
export class RequestRateLimit {
  readonly #clock: RateLimitOptions['clock'];
  readonly #bucket: TokenBucket | undefined;
  readonly #waiting = new FairQueue<RequestFlow, Waiter>(weights);
  /** When the latest token was due, or when waiting began: never before the bucket's own time. */
  #dueMs = 0;
  #timer: AbortController | undefined;

  constructor({ qps, burst, clock }: RateLimitOptions) {
    this.#clock = clock;
    if (qps > 0) this.#bucket = new TokenBucket(qps, Math.max(1, burst), clock.monotonicMs());
  }

  /**
   * Resolves when one more request may be sent. Rejects with an ApiError: `aborted` with the signal, `too-many-requests`
   * if {@link waitingMax} requests wait already. An aborted request takes no token and leaves the queue.
   */
  async pass(signal: AbortSignal, flow: RequestFlow = 'read'): Promise<void> {
    if (signal.aborted) throw abortedError();
    const bucket = this.#bucket;
    if (bucket === undefined) return;
    if (this.#waiting.size === 0 && this.#takeNow(bucket)) return;
    if (this.#waiting.size >= waitingMax) throw tooManyError();
    await this.#wait(bucket, signal, flow);
  }

  /** Waiting requests are rejected with `aborted`. No timer is left. */
  close(): void {
    for (const waiter of this.#waiting) waiter.abort();
  }

  #takeNow(bucket: TokenBucket): boolean {
    this.#dueMs = this.#clock.monotonicMs();
    return bucket.tryTake(this.#dueMs);
  }

  #wait(bucket: TokenBucket, signal: AbortSignal, flow: RequestFlow): Promise<void> {
    return new Promise((resolve, reject) => {
      const dequeue = (): void => {
        signal.removeEventListener('abort', abort);
        this.#waiting.remove(flow, waiter);
      };
      const grant = (): void => {
        dequeue();
        resolve();
      };
      const abort = (): void => {
        dequeue();
        if (this.#waiting.size === 0) this.#timer?.abort();
        reject(abortedError());
      };
      const waiter = { grant, abort };
      signal.addEventListener('abort', abort);
      this.#waiting.add(flow, waiter);
      if (this.#timer === undefined) void this.#grantUntilEmpty(bucket);
    });
  }

  /** Runs while requests wait. */
  async #grantUntilEmpty(bucket: TokenBucket): Promise<void> {
    while (this.#waiting.size > 0) {
      this.#timer = new AbortController();
      const waitMs = bucket.nextAtMs(this.#dueMs) - this.#clock.monotonicMs();
      await this.#clock.sleep(waitMs, this.#timer.signal);
      this.#grantDue(bucket);
    }
    this.#timer = undefined;
  }

  #grantDue(bucket: TokenBucket): void {
    const nowMs = this.#clock.monotonicMs();
    this.#dueMs = Math.max(this.#dueMs, nowMs - lateTimerMsMax);
    while (this.#waiting.size > 0) {
      const dueMs = bucket.nextAtMs(this.#dueMs);
      if (dueMs > nowMs || !bucket.tryTake(dueMs)) return;
      this.#dueMs = dueMs;
      this.#waiting.take()?.grant();
    }
  }
}

function tooManyError(): ApiError {
  const message = `more than ${waitingMax} requests wait for the client-side rate limit`;
  return new ApiError({ reason: 'too-many-requests', message });
}

function abortedError(): ApiError {
  return new ApiError({ reason: 'aborted', message: 'aborted while waiting for the client-side rate limit' });
}
