/** Upper bounds of the histogram buckets, in milliseconds. */
const boundsMs = [10, 20, 50, 100, 200, 500, 1_000, 2_000, 5_000, 10_000, 30_000, 60_000] as const;
/**
 * If the 99th percentile is above this, the run is no valid load test: the process that simulates the nodes was too
 * slow.
 */
export const validLatenessMsMax = 1_000;

/** Lateness of work that was scheduled for a given time. */
export class Lateness {
  readonly #counts: number[] = Array.from({ length: boundsMs.length + 1 }, () => 0);
  #count = 0;
  #maxMs = 0;

  note(ms: number): void {
    const place = boundsMs.findIndex((bound) => ms <= bound);
    const index = place === -1 ? boundsMs.length : place;
    this.#counts[index] = (this.#counts[index] ?? 0) + 1;
    this.#count += 1;
    if (ms > this.#maxMs) this.#maxMs = ms;
  }

  get count(): number {
    return this.#count;
  }

  get maxMs(): number {
    return this.#maxMs;
  }

  /** The 99th percentile, as the upper bound of its bucket; never more than the maximum. */
  get p99Ms(): number {
    let left = Math.ceil(this.#count * 0.99);
    for (const [index, count] of this.#counts.entries()) {
      left -= count;
      if (left <= 0) return Math.min(boundsMs[index] ?? this.#maxMs, this.#maxMs);
    }
    return this.#maxMs;
  }

  /** True if the run is a valid load test. */
  get isValid(): boolean {
    return this.p99Ms <= validLatenessMsMax;
  }
}
