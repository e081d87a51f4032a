// One token allows one action. A failed `tryTake` changes nothing, so the polling rate does not matter. The tolerance
// keeps a rounding error from delaying an action by a whole further pass.
const tolerance = 1e-9;

/**
 * Allows `ratePerSecond` actions per second and at most `burst` at once; starts full. A rate of 0 allows nothing (most
 * limiters treat 0 as unlimited). Time is an argument, so that it works with any clock.
 */
export class TokenBucket {
  #burst: number;
  #ratePerSecond: number;
  #tokens: number;
  #sinceMs: number;
  /** The latest action of another process that counts against this bucket; cleared by the next own action. */
  #restoredAtMs: number | undefined;
  /**
   * Tokens that were taken, oldest first, and what each adds if it is returned. What a full bucket would not have gained without
   * them is used up, so that available and returned tokens together are never more than the burst.
   */
  readonly #taken: { readonly atMs: number; worth: number }[] = [];

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

  /** A new bucket of the same rate and burst would grant as much: this one need not be kept. */
  isFull(nowMs: number): boolean {
    return this.#ratePerSecond <= 0 || this.available(nowMs) >= this.#burst;
  }

  /** Whether {@link tryTake} would take a token. */
  canTake(nowMs: number): boolean {
    return this.#isWhole(this.available(nowMs), nowMs);
  }

  tryTake(nowMs: number): boolean {
    const available = this.available(nowMs);
    if (!this.#isWhole(available, nowMs)) return false;
    this.#useUp(available);
    this.#taken.push({ atMs: nowMs, worth: 1 });
    this.#tokens = Math.max(0, available - 1);
    this.#sinceMs = nowMs;
    this.#restoredAtMs = undefined;
    return true;
  }

  /** Timestamps are rounded to their own precision, which at a high rate is more than the tolerance. */
  #isWhole(available: number, nowMs: number): boolean {
    const roundingMs = 2 * Number.EPSILON * Math.abs(nowMs);
    return available >= 1 - tolerance - (roundingMs * this.#ratePerSecond) / 1_000;
  }

  /** Returns a token that was taken at that time and whose action did not happen, as far as it still counts. */
  returnToken(nowMs: number, takenAtMs = nowMs): void {
    if (this.#ratePerSecond <= 0) return;
    const available = this.available(nowMs);
    this.#useUp(available);
    const place = this.#taken.findLastIndex(({ atMs }) => atMs === takenAtMs);
    const [{ worth } = { worth: 0 }] = place < 0 ? [] : this.#taken.splice(place, 1);
    this.#tokens = Math.min(this.#burst, available + worth);
    this.#sinceMs = nowMs;
  }

  /** The refill beyond the burst counts against the tokens that were taken first. */
  #useUp(available: number): void {
    let beyond = this.#taken.reduce((sum, { worth }) => sum + worth, available) - this.#burst;
    for (let [first] = this.#taken; first !== undefined && beyond > 0; [first] = this.#taken) {
      const used = Math.min(beyond, first.worth);
      first.worth -= used;
      beyond -= used;
      if (first.worth <= 0) this.#taken.shift();
    }
  }

  /** An action that another process took counts against this bucket: only the refill since then is available. */
  restoreSpent(spentAtMs: number, nowMs: number): void {
    this.#restoredAtMs = Math.max(this.#restoredAtMs ?? spentAtMs, spentAtMs);
    this.#tokens = Math.min(this.available(nowMs), this.#leftByOthers(nowMs));
    this.#sinceMs = nowMs;
  }

  #leftByOthers(nowMs: number): number {
    if (this.#restoredAtMs === undefined) return this.#burst;
    return this.#burst - 1 + (Math.max(0, nowMs - this.#restoredAtMs) * this.#ratePerSecond) / 1_000;
  }

  /** When the next action is allowed; Infinity while stopped. */
  nextAtMs(nowMs: number): number {
    const available = this.available(nowMs);
    if (this.#isWhole(available, nowMs)) return nowMs;
    return this.#ratePerSecond > 0 ? nowMs + ((1 - available) * 1_000) / this.#ratePerSecond : Infinity;
  }

  /**
   * Changes the rate. A bucket with an available token becomes full, one without becomes empty, so a change of rate never
   * grants an action; after a stop the first action therefore waits 1/rate (upstream `RateLimitedTimedQueue.SwapLimiter`,
   * which treats a stopped limiter as one with a rate of 1). Restored actions count at the new rate.
   */
  swapRate(ratePerSecond: number, nowMs: number): void {
    if (ratePerSecond === this.#ratePerSecond) return;
    const couldGrant = this.#isWhole(this.available(nowMs), nowMs);
    this.#ratePerSecond = Math.max(0, ratePerSecond);
    this.#tokens = couldGrant && ratePerSecond > 0 ? Math.min(this.#burst, this.#leftByOthers(nowMs)) : 0;
    this.#sinceMs = nowMs;
  }

  /** Changes rate and burst. Accumulated tokens stay, up to the new burst: the change grants no action. */
  resize(ratePerSecond: number, burst: number, nowMs: number): void {
    if (ratePerSecond === this.#ratePerSecond && burst === this.#burst) return;
    this.#tokens = Math.min(burst, this.available(nowMs));
    this.#ratePerSecond = Math.max(0, ratePerSecond);
    this.#burst = burst;
    this.#sinceMs = nowMs;
  }
}
