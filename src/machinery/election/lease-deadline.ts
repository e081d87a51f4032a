import { type Clock, type Instant, instantOf } from '../ports/clock.ts';

/**
 * The time until which a renewal of the lease counts: `ms` after it was sent. The monotonic clock decides, and the wall
 * clock may only shorten the time: CLOCK_MONOTONIC does not advance while the machine is suspended, so the time that the
 * wall clock gained on it counts as elapsed. A backward step of the wall clock has no effect; a forward step by `ms` is
 * treated as a suspend and requires another renewal. Not detected: a suspend that a backward step cancels out completely,
 * without a {@link holds} call between the two.
 */
export class LeaseDeadline {
  readonly #clock: Clock;
  readonly #ms: number;
  #untilMs = Number.NEGATIVE_INFINITY;
  /** Minimum of wall time minus monotonic time since the renewal was sent. */
  #offsetMsMin = Number.POSITIVE_INFINITY;
  /** When a check found that the deadline had passed. A later backward step of the wall clock does not undo that. */
  #passedAtMs: number | undefined;

  constructor(clock: Clock, ms: number) {
    this.#clock = clock;
    this.#ms = ms;
  }

  /** Monotonic time; minus infinity without a valid renewal. */
  get untilMs(): number {
    return this.#untilMs;
  }

  renewed(sentAt: Instant): void {
    this.#untilMs = sentAt.monotonicMs + this.#ms;
    this.#offsetMsMin = sentAt.wallMs - sentAt.monotonicMs;
    if (sentAt.monotonicMs >= (this.#passedAtMs ?? Number.NEGATIVE_INFINITY)) this.#passedAtMs = undefined;
  }

  revoke(): void {
    this.#untilMs = Number.NEGATIVE_INFINITY;
  }

  /** The deadline has not passed on the monotonic clock: if {@link holds} is false, only another renewal makes it true. */
  isAhead(): boolean {
    return this.#clock.monotonicMs() < this.#untilMs;
  }

  /** The deadline has not passed on either clock. Once a call was false, only a later renewal makes it true. */
  holds(): boolean {
    const { monotonicMs, wallMs } = instantOf(this.#clock);
    const offsetMs = wallMs - monotonicMs;
    this.#offsetMsMin = Math.min(this.#offsetMsMin, offsetMs);
    if (monotonicMs + (offsetMs - this.#offsetMsMin) >= this.#untilMs) this.#passedAtMs ??= monotonicMs;
    return this.#passedAtMs === undefined;
  }
}
