import type { ObjectKey } from '../api/object-key.ts';
import type { StoreReader } from './informer.ts';

/** The values under which an index finds an object. */
export type IndexFunctions<T> = Readonly<Record<string, (object: T) => readonly string[]>>;

/** One second key: value to the keys of the objects that have it. A value nobody has any more takes no memory. */
class Index<T> {
  readonly #valuesOf: (object: T) => readonly string[];
  readonly #keysByValue = new Map<string, Set<ObjectKey>>();

  constructor(valuesOf: (object: T) => readonly string[]) {
    this.#valuesOf = valuesOf;
  }

  keys(value: string): Iterable<ObjectKey> {
    return this.#keysByValue.get(value) ?? [];
  }

  move(key: ObjectKey, from: T | undefined, to: T | undefined): void {
    const before = from === undefined ? [] : this.#valuesOf(from);
    const after = to === undefined ? [] : this.#valuesOf(to);
    if (before.length === 1 && after.length === 1 && before[0] === after[0]) return;
    for (const value of before) this.#leave(value, key);
    for (const value of after) this.#enter(value, key);
  }

  #enter(value: string, key: ObjectKey): void {
    const keys = this.#keysByValue.get(value);
    if (keys === undefined) this.#keysByValue.set(value, new Set([key]));
    else keys.add(key);
  }

  #leave(value: string, key: ObjectKey): void {
    const keys = this.#keysByValue.get(value);
    if (keys?.delete(key) && keys.size === 0) this.#keysByValue.delete(value);
  }
}

interface Contents<T> {
  readonly objects: Map<ObjectKey, T>;
  readonly indexes: ReadonlyMap<string, Index<T>>;
}

/**
 * The local copy. Only the informer that fills it holds the Store; everyone else gets a {@link StoreReader}. A relist
 * builds the next contents aside and puts them in place with one assignment, indexes included.
 */
export class Store<T> implements StoreReader<T> {
  readonly #indexFunctions: IndexFunctions<T>;
  #contents: Contents<T>;

  constructor(indexFunctions: IndexFunctions<T> = {}) {
    this.#indexFunctions = indexFunctions;
    this.#contents = this.#arrange(new Map());
  }

  get size(): number {
    return this.#contents.objects.size;
  }

  get(key: ObjectKey): T | undefined {
    return this.#contents.objects.get(key);
  }

  keys(): Iterable<ObjectKey> {
    return this.#contents.objects.keys();
  }

  values(): Iterable<T> {
    return this.#contents.objects.values();
  }

  byIndex(index: string, value: string): readonly T[] {
    const { indexes, objects } = this.#contents;
    const found = indexes.get(index);
    if (found === undefined) throw new RangeError(`no index "${index}"; there is ${[...indexes.keys()].join(', ')}`);
    const members: T[] = [];
    for (const key of found.keys(value)) {
      const object = objects.get(key);
      if (object !== undefined) members.push(object);
    }
    return members;
  }

  /** What is there now; not to be kept, since {@link set} and {@link delete} go on changing it. */
  contents(): ReadonlyMap<ObjectKey, T> {
    return this.#contents.objects;
  }

  /** Puts a whole new state in place of the old one. The map belongs to the store afterwards. */
  replaceAll(objects: Map<ObjectKey, T>): void {
    this.#contents = this.#arrange(objects);
  }

  set(key: ObjectKey, object: T): void {
    const { indexes, objects } = this.#contents;
    const previous = objects.get(key);
    objects.set(key, object);
    for (const index of indexes.values()) index.move(key, previous, object);
  }

  delete(key: ObjectKey): void {
    const { indexes, objects } = this.#contents;
    const previous = objects.get(key);
    if (previous === undefined) return;
    objects.delete(key);
    for (const index of indexes.values()) index.move(key, previous, undefined);
  }

  #arrange(objects: Map<ObjectKey, T>): Contents<T> {
    const indexes = new Map<string, Index<T>>();
    for (const [name, valuesOf] of Object.entries(this.#indexFunctions)) {
      const index = new Index(valuesOf);
      for (const [key, object] of objects) index.move(key, undefined, object);
      indexes.set(name, index);
    }
    return { objects, indexes };
  }
}
