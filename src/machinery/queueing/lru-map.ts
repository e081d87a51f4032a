/** A map with the most recently used entries, at most `entriesMax`. Reads and writes both count as use. */
export class LruMap<V> {
  readonly #entriesMax: number;
  readonly #entries = new Map<string, V>();

  constructor(entriesMax: number) {
    this.#entriesMax = entriesMax;
  }

  get size(): number {
    return this.#entries.size;
  }

  get(key: string): V | undefined {
    const value = this.#entries.get(key);
    if (value !== undefined) this.set(key, value);
    return value;
  }

  /** The value, without counting as use. */
  peek(key: string): V | undefined {
    return this.#entries.get(key);
  }

  /** Returns the evicted value, if any. */
  set(key: string, value: V): V | undefined {
    this.#entries.delete(key);
    this.#entries.set(key, value);
    if (this.#entries.size <= this.#entriesMax) return undefined;
    // A Map iterates in the order of insertion, so the first key is the least recently used one.
    for (const [oldest, evicted] of this.#entries) {
      this.#entries.delete(oldest);
      return evicted;
    }
    return undefined;
  }

  /** Replaces the value of an existing key, without counting as use. */
  replace(key: string, value: V): void {
    if (this.#entries.has(key)) this.#entries.set(key, value);
  }

  delete(key: string): void {
    this.#entries.delete(key);
  }

  /** Least recently used first. */
  entries(): IterableIterator<[string, V]> {
    return this.#entries.entries();
  }
}
