import PQueue from 'p-queue';
import { ApiError } from '../api/api-error.ts';
import type { WriteLane, WriteLanes } from '../ports/write-lanes.ts';

/** A higher number goes first. */
const priorities: Readonly<Record<WriteLane, number>> = { untaint: 3, status: 2, 'no-execute': 1, other: 0 };

/** Writes that may wait. Writers wait for their own answers, so only a fault brings us here. */
export const waitingWritesMax = 100_000;
const fullRetryAfterMs = 1_000;

export interface PQueueLanesOptions {
  /** Writes under way at the same time. */
  readonly concurrencyMax: number;
  readonly waitingMax?: number;
}

/**
 * Runs writes a few at a time; of those that wait, the most urgent lane goes next and within a lane the oldest. Beyond
 * `waitingMax` a write is refused as a busy API server would refuse it: `too-many-requests`, try again later.
 */
export class PQueueLanes implements WriteLanes {
  readonly #queue: PQueue;
  readonly #waitingMax: number;

  constructor({ concurrencyMax, waitingMax = waitingWritesMax }: PQueueLanesOptions) {
    this.#queue = new PQueue({ concurrency: concurrencyMax });
    this.#waitingMax = waitingMax;
  }

  /** Settles as the write does: nothing is retried or swallowed here. */
  run<T>(lane: WriteLane, write: () => Promise<T>): Promise<T> {
    if (this.#queue.size >= this.#waitingMax) return Promise.reject(this.#full());
    return this.#queue.add<T>(write, { priority: priorities[lane] });
  }

  get pending(): number {
    return this.#queue.size + this.#queue.pending;
  }

  drained(): Promise<void> {
    return this.#queue.onIdle();
  }

  #full(): ApiError {
    return new ApiError({
      reason: 'too-many-requests',
      message: `${this.#waitingMax} writes wait already`,
      retryAfterMs: fullRetryAfterMs,
    });
  }
}
