/** Divides long work, so that the server answers other requests and reads its timers in between. */
import type { Clock } from '../../../machinery/ports/clock.ts';

/** Work without a pause. */
const workMsMax = 5;

export class WorkPauses {
  readonly #clock: Clock;
  #sinceMs: number;

  constructor(clock: Clock) {
    this.#clock = clock;
    this.#sinceMs = clock.monotonicMs();
  }

  /** To be awaited between two parts of the work: at once, or after one turn of the event loop if it has taken long. */
  async pause(): Promise<void> {
    if (this.#clock.monotonicMs() - this.#sinceMs < workMsMax) return;
    await new Promise<void>((resolve) => {
      setImmediate(resolve);
    });
    this.#sinceMs = this.#clock.monotonicMs();
  }
}
