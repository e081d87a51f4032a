import type { Clock } from '../ports/clock.ts';
import { LinkedAbort, untilAborted } from './abort.ts';

/** Lets one loop sleep until a time or until a wake-up call. A wake-up without a sleeper is kept for the next sleep. */
export class Alarm {
  readonly #clock: Clock;
  #isWakeRequested = false;
  #wake: (() => void) | undefined;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  wakeUp(): void {
    this.#isWakeRequested = true;
    this.#wake?.();
  }

  /** Resolves after `ms`, at a wake-up, or when the signal aborts. One waiter at a time. An infinite wait uses no timer. */
  async wait(ms: number, signal: AbortSignal): Promise<boolean> {
    if (!this.#isWakeRequested && !signal.aborted) {
      const link = new LinkedAbort(signal);
      this.#wake = link.abort;
      await (ms === Number.POSITIVE_INFINITY ? untilAborted(link.signal) : this.#clock.sleep(ms, link.signal));
      this.#wake = undefined;
      link.release();
    }
    const isWoken = this.#isWakeRequested;
    this.#isWakeRequested = false;
    return isWoken;
  }
}
