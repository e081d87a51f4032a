/** A map that remembers the entries used last, at most `entriesMax` of them. Reading and writing both count as use. */
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

  /** The value, without that it counts as used. */
  peek(key: string): V | undefined {
    return this.#entries.get(key);
  }

  /** Returns the value that had to go for it, if one had to. */
  set(key: string, value: V): V | undefined {
    this.#entries.delete(key);
    this.#entries.set(key, value);
    if (this.#entries.size <= this.#entriesMax) return undefined;
    // A Map iterates in the order of insertion, so the first key is the one that was not used for longest.
    for (const [oldest, gone] of this.#entries) {
      this.#entries.delete(oldest);
      return gone;
    }
    return undefined;
  }

  /** Another value for a key that is there, without that it counts as used. */
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
