// A token is worth one act. Refusals change nothing, so asking often is the same as asking rarely. Rounding must not
// cost a waiting act a whole further pass, hence the tolerance.
const wholeToken = 1 - 1e-9;

/**
 * Grants `ratePerSecond` acts a second and never more than `burst` at once; starts full. A rate of 0 grants nothing, ever
 * (the opposite of what most limiters mean by it). Time is an argument, so that it runs under any clock.
 */
export class TokenBucket {
  readonly #burst: number;
  #ratePerSecond: number;
  #tokens: number;
  #sinceMs: number;

  constructor(ratePerSecond: number, burst: number, nowMs: number) {
    this.#ratePerSecond = ratePerSecond;
    this.#burst = burst;
    this.#tokens = ratePerSecond > 0 ? burst : 0;
    this.#sinceMs = nowMs;
  }

  get ratePerSecond(): number {
    return this.#ratePerSecond;
  }

  available(nowMs: number): number {
    const refilled = (Math.max(0, nowMs - this.#sinceMs) * this.#ratePerSecond) / 1_000;
    return Math.min(this.#burst, this.#tokens + refilled);
  }

  tryTake(nowMs: number): boolean {
    const available = this.available(nowMs);
    if (available < wholeToken) return false;
    this.#tokens = Math.max(0, available - 1);
    this.#sinceMs = nowMs;
    return true;
  }

  /** Returns a token whose act did not happen. */
  giveBack(nowMs: number): void {
    if (this.#ratePerSecond <= 0) return;
    this.#tokens = Math.min(this.#burst, this.available(nowMs) + 1);
    this.#sinceMs = nowMs;
  }

  /** An act that another bucket granted then counts against this one: what refilled since is all there is. */
  recall(spentAtMs: number, nowMs: number): void {
    const refilled = (Math.max(0, nowMs - spentAtMs) * this.#ratePerSecond) / 1_000;
    this.#tokens = Math.min(this.available(nowMs), this.#burst - 1 + refilled);
    this.#sinceMs = nowMs;
  }

  /** When the next act will be granted; Infinity while stopped. */
  nextAtMs(nowMs: number): number {
    const available = this.available(nowMs);
    if (available >= wholeToken) return nowMs;
    return this.#ratePerSecond > 0 ? nowMs + ((1 - available) * 1_000) / this.#ratePerSecond : Infinity;
  }

  /**
   * Another rate from now on. A bucket that could have granted stays full, one that could not starts empty, so a change
   * of rate never gives an act away; leaving a stop therefore waits 1/rate (upstream `RateLimitedTimedQueue.SwapLimiter`,
   * without its confusion of a stopped limiter with a rate of 1).
   */
  swapRate(ratePerSecond: number, nowMs: number): void {
    if (ratePerSecond === this.#ratePerSecond) return;
    const couldGrant = this.available(nowMs) >= wholeToken;
    this.#tokens = couldGrant && ratePerSecond > 0 ? this.#burst : 0;
    this.#ratePerSecond = Math.max(0, ratePerSecond);
    this.#sinceMs = nowMs;
  }
}
