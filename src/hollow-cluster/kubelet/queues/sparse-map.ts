/**
 * A map for which thousands of instances exist, nearly all of them empty: without entries it takes a fraction of the
 * memory of a `Map`. Keeps insertion order.
 */
export class SparseMap<K, V> {
  #map: Map<K, V> | undefined;

  get size(): number {
    return this.#map?.size ?? 0;
  }

  get(key: K): V | undefined {
    return this.#map?.get(key);
  }

  has(key: K): boolean {
    return this.#map?.has(key) === true;
  }

  set(key: K, value: V): this {
    this.#map ??= new Map();
    this.#map.set(key, value);
    return this;
  }

  /** False if the key was absent. */
  delete(key: K): boolean {
    return this.#map?.delete(key) === true;
  }

  clear(): void {
    this.#map = undefined;
  }

  keys(): Iterable<K> {
    return this.#map?.keys() ?? [];
  }

  values(): Iterable<V> {
    return this.#map?.values() ?? [];
  }

  [Symbol.iterator](): Iterator<[K, V]> {
    return (this.#map ?? new Map<K, V>())[Symbol.iterator]();
  }
}
