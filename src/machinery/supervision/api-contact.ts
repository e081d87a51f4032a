import type { Clock } from '../ports/clock.ts';
import { abortReason, LinkedAbort } from './abort.ts';

/** Time without an answer after which the next one ends all backoffs; after a shorter one they are short by themselves. */
export const lostAfterMs = 5_000;

/**
 * Whether the API server answers this process. The first answer after an outage, or after the start, ends the backoffs of
 * all clients of the process: else each would wait out a delay that grew while no server answered. Later answers end none,
 * so that a request that fails while others succeed is not repeated sooner.
 */
export class ApiContact {
  readonly #clock: Clock;
  #answeredAtMs = -Infinity;
  #firstAnsweredAtMs = Infinity;
  #restoredAtMs = -Infinity;
  #restored = new AbortController();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** To be called when a request has succeeded. */
  answered(): void {
    const nowMs = this.#clock.monotonicMs();
    const isRestored = nowMs - this.#answeredAtMs >= lostAfterMs;
    this.#answeredAtMs = nowMs;
    this.#firstAnsweredAtMs = Math.min(this.#firstAnsweredAtMs, nowMs);
    if (!isRestored) return;
    this.#restoredAtMs = nowMs;
    const restored = this.#restored;
    this.#restored = new AbortController();
    restored.abort(abortReason);
  }

  /** Of the first answer, on the monotonic clock: until then this process knew nothing. Infinite before it. */
  get firstAnsweredAtMs(): number {
    return this.#firstAnsweredAtMs;
  }

  /** Whether contact was restored after this time: an attempt that began before it shows nothing about the API server now. */
  restoredSince(monotonicMs: number): boolean {
    return this.#restoredAtMs > monotonicMs;
  }

  /** Sleeps for `ms` at most, and less if contact is restored: then true. Never rejects. */
  async sleep(ms: number, signal: AbortSignal): Promise<boolean> {
    const restored = this.#restored.signal;
    const end = new LinkedAbort(signal, restored);
    await this.#clock.sleep(ms, end.signal);
    end.release();
    return restored.aborted && !signal.aborted;
  }
}
