/**
 * Compares how long the watches were stale with how long they were fresh since. Watches that are stale and fresh in turn
 * would otherwise begin a new hold each time: the health clock runs for a moment in each turn, and no hold reaches its
 * maximum.
 */
export class StaleTime {
  /** Stale time minus fresh time since the first stale moment: at least 0, at most the hold. */
  #balanceMs = 0;
  #sinceMs: number | undefined;
  #noted: { readonly atMs: number; readonly isStale: boolean } | undefined;
  #exceedsHold = false;

  /** When the watches became stale first; undefined once they were fresh for as long as they had been stale. */
  get sinceMs(): number | undefined {
    return this.#sinceMs;
  }

  /** The stale time has reached the hold, and was not made up by fresh time since. */
  get exceedsHold(): boolean {
    return this.#exceedsHold;
  }

  /** To be called often. The time since the previous call has the state of that call. */
  note(isStale: boolean, holdMs: number, nowMs: number): void {
    const passedMs = this.#noted === undefined ? 0 : nowMs - this.#noted.atMs;
    const changedMs = this.#noted?.isStale === true ? passedMs : -passedMs;
    this.#balanceMs = Math.min(holdMs, Math.max(0, this.#balanceMs + changedMs));
    this.#noted = { atMs: nowMs, isStale };
    if (isStale) this.#sinceMs ??= nowMs;
    else if (this.#balanceMs === 0) this.#sinceMs = undefined;
    this.#exceedsHold = this.#sinceMs !== undefined && (this.#exceedsHold || this.#balanceMs >= holdMs);
  }
}
