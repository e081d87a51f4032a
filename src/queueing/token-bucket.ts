// A token is worth one act. Refusals change nothing, so asking often is the same as asking rarely. Rounding must not
// cost a waiting act a whole further pass, hence the tolerance.
const wholeToken = 1 - 1e-9;

/**
 * Grants `ratePerSecond` acts a second and never more than `burst` at once; starts full. A rate of 0 grants nothing, ever
 * (the opposite of what most limiters mean by it). Time is an argument, so that it runs under any clock.
 */
export class TokenBucket {
  #burst: number;
  #ratePerSecond: number;
  #tokens: number;
  #sinceMs: number;
  /** The latest act of another bucket that counts against this one; forgotten with our own next act. */
  #recalledAtMs: number | undefined;

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
    this.#recalledAtMs = undefined;
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
    this.#recalledAtMs = Math.max(this.#recalledAtMs ?? spentAtMs, spentAtMs);
    this.#tokens = Math.min(this.available(nowMs), this.#leftByOthers(nowMs));
    this.#sinceMs = nowMs;
  }

  #leftByOthers(nowMs: number): number {
    if (this.#recalledAtMs === undefined) return this.#burst;
    return this.#burst - 1 + (Math.max(0, nowMs - this.#recalledAtMs) * this.#ratePerSecond) / 1_000;
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
   * without its confusion of a stopped limiter with a rate of 1). What was recalled counts at the new rate.
   */
  swapRate(ratePerSecond: number, nowMs: number): void {
    if (ratePerSecond === this.#ratePerSecond) return;
    const couldGrant = this.available(nowMs) >= wholeToken;
    this.#ratePerSecond = Math.max(0, ratePerSecond);
    this.#tokens = couldGrant && ratePerSecond > 0 ? Math.min(this.#burst, this.#leftByOthers(nowMs)) : 0;
    this.#sinceMs = nowMs;
  }

  /** Another rate and burst from now on. What has gathered stays, as far as the new burst goes: nothing is given away. */
  resize(ratePerSecond: number, burst: number, nowMs: number): void {
    if (ratePerSecond === this.#ratePerSecond && burst === this.#burst) return;
    this.#tokens = Math.min(burst, this.available(nowMs));
    this.#ratePerSecond = Math.max(0, ratePerSecond);
    this.#burst = burst;
    this.#sinceMs = nowMs;
  }
}
