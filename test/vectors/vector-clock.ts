import { ManualClock } from '../support/manual-clock.ts';

const defaultT0 = '2017-01-01T12:00:00Z';

/**
 * The vector's time. Timestamps are in `seconds`; the clock itself may run slightly ahead, because delays between two items
 * or of a retry within one call, which take microseconds in kube-controller-manager, take time on this clock.
 */
export class VectorClock {
  readonly clock: ManualClock;
  readonly t0Ms: number;
  readonly #startMonotonicMs: number;
  #nominalMs = 0;

  constructor(t0 = defaultT0) {
    this.t0Ms = Date.parse(t0);
    if (Number.isNaN(this.t0Ms)) throw new Error(`given.t0: not a time: ${t0}`);
    this.clock = new ManualClock(this.t0Ms);
    this.#startMonotonicMs = this.clock.monotonicMs();
  }

  /** Seconds since t0 in the vector's time; while it is advanced, events happen in between. */
  get seconds(): number {
    return this.#sinceStartMs() / 1_000;
  }

  get nowMs(): number {
    return this.t0Ms + this.#sinceStartMs();
  }

  #sinceStartMs(): number {
    return Math.min(this.#nominalMs, this.clock.monotonicMs() - this.#startMonotonicMs);
  }

  get monotonicMsAtStart(): number {
    return this.#startMonotonicMs;
  }

  /** Seconds since t0 of a moment on the monotonic clock, limited to the vector's time. */
  secondsOf(monotonicMs: number): number {
    return (monotonicMs - this.#startMonotonicMs) / 1_000;
  }

  async advance(seconds: number): Promise<void> {
    this.#nominalMs += seconds * 1_000;
    const byMs = this.#startMonotonicMs + this.#nominalMs - this.clock.monotonicMs();
    await this.clock.advance(Math.max(0, byMs));
  }

  /** Lets the clock run ahead; the next advance compensates for it. */
  async runAhead(ms: number): Promise<void> {
    await this.clock.advance(ms);
  }
}
