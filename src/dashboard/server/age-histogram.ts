const bucketMs = 250;
/** Ten minutes; older ones count as this old. */
const bucketsMax = 2_400;

/** Ages by quarters of a second, in constant memory. */
export class AgeHistogram {
  readonly #counts = new Uint32Array(bucketsMax);
  #total = 0;

  add(ageMs: number): void {
    const bucket = Math.min(bucketsMax - 1, Math.max(0, Math.floor(ageMs / bucketMs)));
    this.#counts[bucket] = (this.#counts[bucket] ?? 0) + 1;
    this.#total += 1;
  }

  /** The age in seconds that this share of them does not exceed, to a quarter of a second; null without any. */
  quantileSeconds(share: number): number | null {
    if (this.#total === 0) return null;
    const wanted = Math.max(1, Math.ceil(share * this.#total));
    let seen = 0;
    const bucket = this.#counts.findIndex((count) => {
      seen += count;
      return seen >= wanted;
    });
    return ((bucket + 1) * bucketMs) / 1_000;
  }

  clear(): void {
    this.#counts.fill(0);
    this.#total = 0;
  }
}
