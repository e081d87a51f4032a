/** Upper bounds of what is told apart, in milliseconds. */
const boundsMs = [10, 20, 50, 100, 200, 500, 1_000, 2_000, 5_000, 10_000, 30_000, 60_000] as const;
/** A run in which more than one in a hundred is later than this is no load test: it was the tester that was slow. */
export const validLatenessMsMax = 1_000;

/** How late things were done that were to be done at a time. */
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

  /** Ninety-nine of a hundred were no later than this, told as the bound above it; never more than the latest of all. */
  get p99Ms(): number {
    let left = Math.ceil(this.#count * 0.99);
    for (const [index, count] of this.#counts.entries()) {
      left -= count;
      if (left <= 0) return Math.min(boundsMs[index] ?? this.#maxMs, this.#maxMs);
    }
    return this.#maxMs;
  }

  /** Does the run count as a load test? */
  get isValid(): boolean {
    return this.p99Ms <= validLatenessMsMax;
  }
}
