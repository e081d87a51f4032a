import type { Clock } from '../../../machinery/ports/clock.ts';

const hourMs = 3_600_000;

/** A machine's own clock: wall time with an offset and a drift; monotonic time is not affected. */
export class SkewedClock implements Clock {
  readonly #clock: Clock;
  #offsetMs = 0;
  #driftMsPerHour = 0;
  #sinceMs = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** From now on wall time has this offset and this drift. */
  skew({ offsetMs, driftMsPerHour }: { readonly offsetMs: number; readonly driftMsPerHour: number }): void {
    this.#offsetMs = offsetMs;
    this.#driftMsPerHour = driftMsPerHour;
    this.#sinceMs = this.#clock.monotonicMs();
  }

  nowMs(): number {
    const nowMs = this.#clock.nowMs();
    if (this.#driftMsPerHour === 0) return nowMs + this.#offsetMs;
    const drifted = ((this.#clock.monotonicMs() - this.#sinceMs) / hourMs) * this.#driftMsPerHour;
    return Math.trunc(nowMs + this.#offsetMs + drifted);
  }

  monotonicMs(): number {
    return this.#clock.monotonicMs();
  }

  sleep(ms: number, signal: AbortSignal): Promise<void> {
    return this.#clock.sleep(ms, signal);
  }
}
