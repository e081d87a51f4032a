import type { Clock } from '../ports/clock.ts';

/** Lets one loop sleep until a time, or until somebody rings. A ring while nobody sleeps is kept for the next sleep. */
export class Alarm {
  readonly #clock: Clock;
  #rung = false;
  #sleep: AbortController | undefined;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  ring(): void {
    this.#rung = true;
    this.#sleep?.abort();
  }

  /** Resolves after `ms`, at a ring, or when the signal aborts. Only one may wait at a time. */
  async wait(ms: number, signal: AbortSignal): Promise<void> {
    if (!this.#rung && !signal.aborted) await this.#sleepUntilRung(ms, signal);
    this.#rung = false;
  }

  async #sleepUntilRung(ms: number, signal: AbortSignal): Promise<void> {
    const sleep = new AbortController();
    const stop = (): void => {
      sleep.abort();
    };
    this.#sleep = sleep;
    signal.addEventListener('abort', stop);
    await this.#clock.sleep(ms, sleep.signal);
    signal.removeEventListener('abort', stop);
    this.#sleep = undefined;
  }
}
