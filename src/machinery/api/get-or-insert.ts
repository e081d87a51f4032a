/** The part of a `Map` or a `WeakMap` that remembers. */
interface Remembering<K, V> {
  get(key: K): V | undefined;
  set(key: K, value: V): unknown;
}

/** The value under the key; the one that `make` returns, from now on, if there is none (`Map.getOrInsertComputed` of Node 26). */
export function getOrInsert<K, V>(map: Remembering<K, V>, key: K, make: (key: K) => V): V {
  const known = map.get(key);
  if (known !== undefined) return known;
  const made = make(key);
  map.set(key, made);
  return made;
}
