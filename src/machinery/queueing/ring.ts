/** The items that were added last, up to a maximum number. */
export class Ring<T> {
  readonly #capacity: number;
  readonly #items: T[] = [];
  /** Place of the next item. */
  #next = 0;

  constructor(capacity: number) {
    if (!Number.isInteger(capacity) || capacity < 1)
      throw new RangeError(`capacity: must be an integer >= 1 (got ${capacity})`);
    this.#capacity = capacity;
  }

  get size(): number {
    return this.#items.length;
  }

  /** Replaces the oldest item of a full ring. */
  add(item: T): void {
    this.#items[this.#next] = item;
    this.#next = (this.#next + 1) % this.#capacity;
  }

  /** Oldest first. */
  values(): readonly T[] {
    return [...this.#items.slice(this.#next), ...this.#items.slice(0, this.#next)];
  }

  clear(): void {
    this.#items.length = 0;
    this.#next = 0;
  }
}
