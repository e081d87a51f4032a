import PQueue from 'p-queue';
import { ApiError } from '../api/api-error.ts';
import type { WriteLane, WriteLanes } from '../ports/write-lanes.ts';

/** Maximum number of queued writes per lane. Controllers await their own writes, so only a bug reaches this limit. */
const waitingWritesMax = 100_000;
const fullRetryAfterMs = 1_000;

interface PQueueLanesOptions {
  /** Maximum number of writes of one lane in flight. */
  readonly concurrencyMax: number;
  readonly waitingMax?: number;
}

/**
 * Runs the writes of each lane with bounded concurrency, by precedence and then oldest first. A lane whose slots are all in
 * use does not delay any other lane. Beyond `waitingMax` a write is rejected as by an overloaded API server:
 * `too-many-requests`, with a Retry-After.
 */
export class PQueueLanes implements WriteLanes {
  readonly concurrencyMax: number;
  readonly #queues: Readonly<Record<WriteLane, PQueue>>;
  readonly #waitingMax: number;

  constructor({ concurrencyMax: concurrency, waitingMax = waitingWritesMax }: PQueueLanesOptions) {
    this.concurrencyMax = concurrency;
    const queue = (): PQueue => new PQueue({ concurrency });
    this.#queues = {
      recovery: queue(),
      detection: queue(),
      tainting: queue(),
      eviction: queue(),
      housekeeping: queue(),
    };
    this.#waitingMax = waitingMax;
  }

  /** Settles as the write does: no retry, no error handling. */
  run<T>(lane: WriteLane, write: () => Promise<T>, priority = 0): Promise<T> {
    const queue = this.#queues[lane];
    if (queue.size >= this.#waitingMax) return Promise.reject(this.#full());
    return queue.add<T>(write, { priority });
  }

  get pending(): number {
    return Object.values(this.#queues).reduce((sum, { size, pending }) => sum + size + pending, 0);
  }

  async drained(): Promise<void> {
    await Promise.all(Object.values(this.#queues).map((queue) => queue.onIdle()));
  }

  #full(): ApiError {
    return new ApiError({
      reason: 'too-many-requests',
      message: `${this.#waitingMax} writes are queued already`,
      retryAfterMs: fullRetryAfterMs,
    });
  }
}
