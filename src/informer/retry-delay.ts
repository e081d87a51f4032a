import type { Clock } from '../ports/clock.ts';
import type { Random } from '../ports/random.ts';

export const retryMsMin = 800;
export const retryMsMax = 30_000;
export const retryForgetMs = 120_000;
/** A server may ask for this much; more is what a clock that is wrong makes of a date, and would leave us blind for hours. */
export const askedMsMax = 60_000;
const growth = 2;
/** A delay of d becomes one in [d, 2d): many clients that failed together must not come back together. */
const jitter = 1;

/** How long to wait before the next attempt (client-go `NewReflectorBackoff`). */
export class RetryDelay {
  readonly #clock: Clock;
  readonly #random: Random;
  #baseMs = retryMsMin;
  #askedAtMs: number | undefined;

  constructor(clock: Clock, random: Random) {
    this.#clock = clock;
    this.#random = random;
  }

  /**
   * Milliseconds; longer each time, and short again when nobody has asked for two minutes. No less than the server asked
   * for, within bounds; what it asked for may be anything.
   */
  nextMs(askedMs = 0): number {
    const leastMs = askedMs > 0 ? Math.min(askedMs, askedMsMax) : 0;
    return Math.max(this.#ownMs(), leastMs);
  }

  #ownMs(): number {
    const nowMs = this.#clock.monotonicMs();
    if (this.#askedAtMs !== undefined && nowMs - this.#askedAtMs > retryForgetMs) this.#baseMs = retryMsMin;
    this.#askedAtMs = nowMs;
    const delayMs = this.#baseMs * (1 + jitter * this.#random.next());
    this.#baseMs = Math.min(this.#baseMs * growth, retryMsMax);
    return delayMs;
  }
}
