import type { Clock } from '../ports/clock.ts';
import type { Random } from '../ports/random.ts';

export const retryMsMin = 800;
export const retryMsMax = 30_000;
export const retryResetMs = 120_000;
/** Maximum accepted Retry-After; a longer one comes from a date on a wrong clock and would pause the watch for hours. */
export const retryAfterMsMax = 60_000;
const growth = 2;
/** A delay of d becomes one in [d, 2d), so that clients that failed together do not retry together. */
const jitter = 1;

/** Delay before the next attempt (client-go `NewReflectorBackoff`). */
export class RetryDelay {
  readonly #clock: Clock;
  readonly #random: Random;
  #baseMs = retryMsMin;
  #lastCallMs: number | undefined;

  constructor(clock: Clock, random: Random) {
    this.#clock = clock;
    this.#random = random;
  }

  /**
   * Milliseconds; grows with each call, and starts over after two minutes without one. At least the delay that the server
   * requested, up to {@link retryAfterMsMax}; any number is accepted as a request.
   */
  nextMs(retryAfterMs = 0): number {
    const minMs = retryAfterMs > 0 ? Math.min(retryAfterMs, retryAfterMsMax) : 0;
    return Math.max(this.#backoffMs(), minMs);
  }

  #backoffMs(): number {
    const nowMs = this.#clock.monotonicMs();
    if (this.#lastCallMs !== undefined && nowMs - this.#lastCallMs > retryResetMs) this.#baseMs = retryMsMin;
    this.#lastCallMs = nowMs;
    const delayMs = this.#baseMs * (1 + jitter * this.#random.next());
    this.#baseMs = Math.min(this.#baseMs * growth, retryMsMax);
    return delayMs;
  }
}
