/**
 * The times at which a relist is due: one period after the last one ended, and each period after that for as long as
 * relists are skipped because they would find nothing.
 */
export class RelistGrid {
  readonly #periodMs: number;
  #firstAtMs = Infinity;

  constructor(periodMs: number) {
    this.#periodMs = periodMs;
  }

  /** Restarts the grid at this time. */
  startAt(atMs: number): void {
    this.#firstAtMs = atMs;
  }

  /** The first due time at or after `atMs`. */
  dueFrom(atMs: number): number {
    if (atMs <= this.#firstAtMs) return this.#firstAtMs;
    return this.#firstAtMs + Math.ceil((atMs - this.#firstAtMs) / this.#periodMs) * this.#periodMs;
  }

  /** The first due time after `atMs`. */
  dueAfter(atMs: number): number {
    const dueMs = this.dueFrom(atMs);
    return dueMs === atMs ? dueMs + this.#periodMs : dueMs;
  }

  /** The last due time at or before `atMs`; undefined: there was none since the last relist. */
  lastUntil(atMs: number): number | undefined {
    if (atMs < this.#firstAtMs) return undefined;
    return this.#firstAtMs + Math.floor((atMs - this.#firstAtMs) / this.#periodMs) * this.#periodMs;
  }

  /** The last due time before `atMs`. */
  lastBefore(atMs: number): number | undefined {
    const last = this.lastUntil(atMs);
    if (last !== atMs) return last;
    return last === this.#firstAtMs ? undefined : last - this.#periodMs;
  }
}
