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

  set(key: string, value: V): void {
    this.#entries.delete(key);
    this.#entries.set(key, value);
    if (this.#entries.size <= this.#entriesMax) return;
    // A Map iterates in the order of insertion, so the first key is the one that was not used for longest.
    for (const oldest of this.#entries.keys()) {
      this.#entries.delete(oldest);
      return;
    }
  }
}
