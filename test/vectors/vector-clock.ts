import { ManualClock } from '../support/manual-clock.ts';

const defaultT0 = '2017-01-01T12:00:00Z';

/**
 * The vector's time. `seconds` is what its stamps are counted in; the clock itself may run a little ahead of it, because
 * what the reference does in the microseconds between two items, or in a retry within one call, needs time here too.
 */
export class VectorClock {
  readonly clock: ManualClock;
  readonly t0Ms: number;
  readonly #startMonotonicMs: number;
  #nominalMs = 0;

  constructor(t0 = defaultT0) {
    this.t0Ms = Date.parse(t0);
    if (Number.isNaN(this.t0Ms)) throw new Error(`given.t0 is no time: ${t0}`);
    this.clock = new ManualClock(this.t0Ms);
    this.#startMonotonicMs = this.clock.monotonicMs();
  }

  /** Seconds since t0, as the vector counts: what happens while it is advanced happens in between. */
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

  /** Seconds since t0 of a moment on the monotonic clock that is not ahead of the vector's time. */
  secondsOf(monotonicMs: number): number {
    return (monotonicMs - this.#startMonotonicMs) / 1_000;
  }

  async advance(seconds: number): Promise<void> {
    this.#nominalMs += seconds * 1_000;
    const byMs = this.#startMonotonicMs + this.#nominalMs - this.clock.monotonicMs();
    await this.clock.advance(Math.max(0, byMs));
  }

  /** Lets the clock run ahead; the next advance makes up for it. */
  async runAhead(ms: number): Promise<void> {
    await this.clock.advance(ms);
  }
}
