/** Keys that are woken for one slot: the first of them may have nothing to send any more. */
const wokenMax = 4;

/**
 * Keys with a request in flight, of which there is a maximum, and those that wait for one to end: first come, first served. One that waits
 * is to be removed when it does not want a slot any more.
 */
export class RequestSlots {
  readonly #max: number;
  readonly #wake: (key: string) => void;
  readonly #taken = new Set<string>();
  readonly #waiting = new Set<string>();

  /** `wake`: a slot is free, or was a moment ago, and this key is to try again. */
  constructor(max: number, wake: (key: string) => void) {
    this.#max = max;
    this.#wake = wake;
  }

  /** False: none is free. */
  tryTake(key: string): boolean {
    if (this.#taken.size >= this.#max) {
      this.#waiting.add(key);
      return false;
    }
    this.#waiting.delete(key);
    this.#taken.add(key);
    return true;
  }

  /** The request has ended, or is not sent. Ignored for a key without a slot. */
  free(key: string): void {
    if (!this.#taken.delete(key)) return;
    let woken = 0;
    for (const next of this.#waiting) {
      this.#wake(next);
      if (++woken >= wokenMax) return;
    }
  }

  /** The key does not wait any more; a request in flight keeps its slot. */
  remove(key: string): void {
    this.#waiting.delete(key);
  }

  /** Number of keys. */
  get size(): number {
    return this.#taken.size + this.#waiting.size;
  }
}
