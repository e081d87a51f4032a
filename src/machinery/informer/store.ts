import type { ObjectKey } from '../api/object-key.ts';
import type { StoreReader } from './informer.ts';
import { ObjectMap, type NamespacedName } from './object-map.ts';

/** Return the index values of an object. */
export type IndexFunctions<T> = Readonly<Record<string, (object: T) => readonly string[]>>;

/**
 * One index: value to the objects that have it. A change searches the objects of a value linearly, so an index is meant
 * for values that some hundred objects share, as pods share a node. A value without objects takes no memory.
 */
class Index<T> {
  readonly #valuesOf: (object: T) => readonly string[];
  readonly #members = new Map<string, T[]>();

  constructor(valuesOf: (object: T) => readonly string[]) {
    this.#valuesOf = valuesOf;
  }

  members(value: string): readonly T[] {
    return [...(this.#members.get(value) ?? [])];
  }

  add(object: T): void {
    for (const value of this.#valuesOf(object)) this.#addToValue(value, object);
  }

  remove(object: T): void {
    for (const value of this.#valuesOf(object)) this.#removeFromIndexes(value, object);
  }

  /** If both have the same single value the new object takes the position of the old one. */
  replace(before: T, after: T): void {
    const [from, ...otherFrom] = this.#valuesOf(before);
    const [to, ...otherTo] = this.#valuesOf(after);
    const members = from === to && from !== undefined ? this.#members.get(from) : undefined;
    if (members !== undefined && otherFrom.length === 0 && otherTo.length === 0) {
      members[members.indexOf(before)] = after;
    } else {
      this.remove(before);
      this.add(after);
    }
  }

  #addToValue(value: string, object: T): void {
    const members = this.#members.get(value);
    if (members === undefined) this.#members.set(value, [object]);
    else members.push(object);
  }

  #removeFromIndexes(value: string, object: T): void {
    const members = this.#members.get(value);
    if (members === undefined) return;
    members.splice(members.indexOf(object), 1);
    if (members.length === 0) this.#members.delete(value);
  }
}

interface Contents<T> {
  readonly objects: ObjectMap<T>;
  readonly indexes: ReadonlyMap<string, Index<T>>;
}

/**
 * The local copy. Only the informer that fills it has access to the Store; other code gets a {@link StoreReader}. A relist
 * builds the next contents aside and swaps them with one assignment, indexes included.
 */
export class Store<T> implements StoreReader<T> {
  readonly #indexFunctions: IndexFunctions<T>;
  #contents: Contents<T>;

  constructor(indexFunctions: IndexFunctions<T> = {}) {
    this.#indexFunctions = indexFunctions;
    this.#contents = this.#buildContents(new ObjectMap());
  }

  get size(): number {
    return this.#contents.objects.size;
  }

  get(key: ObjectKey): T | undefined {
    return this.#contents.objects.find(key);
  }

  keys(): Iterable<ObjectKey> {
    return this.#contents.objects.keys();
  }

  values(): Iterable<T> {
    return this.#contents.objects.values();
  }

  byIndex(index: string, value: string): readonly T[] {
    const { indexes } = this.#contents;
    const found = indexes.get(index);
    if (found === undefined) throw new RangeError(`index "${index}": must be one of ${[...indexes.keys()].join(', ')}`);
    return found.members(value);
  }

  /** The current contents; do not retain it, since {@link set} and {@link delete} modify it. */
  contents(): ObjectMap<T> {
    return this.#contents.objects;
  }

  /** Replaces the whole contents. The store takes ownership of the map. */
  replaceAll(objects: ObjectMap<T>): void {
    this.#contents = this.#buildContents(objects);
  }

  set(name: NamespacedName, object: T): void {
    const { indexes, objects } = this.#contents;
    const previous = indexes.size === 0 ? undefined : objects.get(name);
    objects.set(name, object);
    for (const index of indexes.values()) {
      if (previous === undefined) index.add(object);
      else index.replace(previous, object);
    }
  }

  delete(name: NamespacedName): void {
    const { indexes, objects } = this.#contents;
    const previous = objects.get(name);
    if (previous === undefined) return;
    objects.delete(name);
    for (const index of indexes.values()) index.remove(previous);
  }

  #buildContents(objects: ObjectMap<T>): Contents<T> {
    const indexes = new Map<string, Index<T>>();
    for (const [name, valuesOf] of Object.entries(this.#indexFunctions)) {
      const index = new Index(valuesOf);
      for (const object of objects.values()) index.add(object);
      indexes.set(name, index);
    }
    return { objects, indexes };
  }
}
