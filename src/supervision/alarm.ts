import type { Clock } from '../ports/clock.ts';

/** Lets one loop sleep until a time, or until somebody rings. A ring while nobody sleeps is kept for the next sleep. */
export class Alarm {
  readonly #clock: Clock;
  #rung = false;
  #wake: (() => void) | undefined;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  ring(): void {
    this.#rung = true;
    this.#wake?.();
  }

  /** Resolves after `ms`, at a ring, or when the signal aborts. Only one may wait at a time. Who waits for ever needs no timer. */
  async wait(ms: number, signal: AbortSignal): Promise<void> {
    if (!this.#rung && !signal.aborted) {
      await (ms === Number.POSITIVE_INFINITY ? this.#rest(signal) : this.#sleep(ms, signal));
    }
    this.#rung = false;
  }

  #rest(signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const wake = (): void => {
        this.#wake = undefined;
        signal.removeEventListener('abort', wake);
        resolve();
      };
      this.#wake = wake;
      signal.addEventListener('abort', wake);
    });
  }

  async #sleep(ms: number, signal: AbortSignal): Promise<void> {
    const sleep = new AbortController();
    const wake = (): void => {
      sleep.abort();
    };
    this.#wake = wake;
    signal.addEventListener('abort', wake);
    await this.#clock.sleep(ms, sleep.signal);
    signal.removeEventListener('abort', wake);
    this.#wake = undefined;
  }
}
