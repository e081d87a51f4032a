export interface BackoffLimits {
  readonly delayMsMin: number;
  readonly delayMsMax: number;
}

/** The delays of every queue that does not name its own. */
export const retryLimits: BackoffLimits = { delayMsMin: 100, delayMsMax: 30_000 };

/** Exponential backoff per key: doubles with each failure up to a limit; reset on success. */
export class Backoff {
  readonly #limits: BackoffLimits;
  readonly #failures = new Map<string, number>();

  constructor(limits: BackoffLimits) {
    this.#limits = limits;
  }

  /** Counts one more failure of the key and returns the delay. */
  nextMs(key: string): number {
    const failures = this.#failures.get(key) ?? 0;
    this.#failures.set(key, failures + 1);
    return Math.min(this.#limits.delayMsMin * 2 ** failures, this.#limits.delayMsMax);
  }

  failures(key: string): number {
    return this.#failures.get(key) ?? 0;
  }

  /** Number of keys with a failure. */
  get size(): number {
    return this.#failures.size;
  }

  forget(key: string): void {
    this.#failures.delete(key);
  }
}
