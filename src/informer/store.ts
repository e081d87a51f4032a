import type { ObjectKey } from '../api/object-key.ts';
import type { StoreReader } from './informer.ts';
import { ObjectMap, type Place } from './object-map.ts';

/** The values under which an index finds an object. */
export type IndexFunctions<T> = Readonly<Record<string, (object: T) => readonly string[]>>;

/**
 * One second key: value to the objects that have it. They are searched one by one when one of them changes, so it is made
 * for values that some hundred objects share, as pods share a node. A value nobody has any more takes no memory.
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
    for (const value of this.#valuesOf(object)) this.#enter(value, object);
  }

  remove(object: T): void {
    for (const value of this.#valuesOf(object)) this.#leave(value, object);
  }

  /** Where both have the same value the new one takes the other's place. */
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

  #enter(value: string, object: T): void {
    const members = this.#members.get(value);
    if (members === undefined) this.#members.set(value, [object]);
    else members.push(object);
  }

  #leave(value: string, object: T): void {
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
 * The local copy. Only the informer that fills it holds the Store; everyone else gets a {@link StoreReader}. A relist
 * builds the next contents aside and puts them in place with one assignment, indexes included.
 */
export class Store<T> implements StoreReader<T> {
  readonly #indexFunctions: IndexFunctions<T>;
  #contents: Contents<T>;

  constructor(indexFunctions: IndexFunctions<T> = {}) {
    this.#indexFunctions = indexFunctions;
    this.#contents = this.#arrange(new ObjectMap());
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
    if (found === undefined) throw new RangeError(`no index "${index}"; there is ${[...indexes.keys()].join(', ')}`);
    return found.members(value);
  }

  /** What is there now; not to be kept, since {@link set} and {@link delete} go on changing it. */
  contents(): ObjectMap<T> {
    return this.#contents.objects;
  }

  /** Puts a whole new state in place of the old one. The map belongs to the store afterwards. */
  replaceAll(objects: ObjectMap<T>): void {
    this.#contents = this.#arrange(objects);
  }

  set(place: Place, object: T): void {
    const { indexes, objects } = this.#contents;
    const previous = indexes.size === 0 ? undefined : objects.get(place);
    objects.set(place, object);
    for (const index of indexes.values()) {
      if (previous === undefined) index.add(object);
      else index.replace(previous, object);
    }
  }

  delete(place: Place): void {
    const { indexes, objects } = this.#contents;
    const previous = objects.get(place);
    if (previous === undefined) return;
    objects.delete(place);
    for (const index of indexes.values()) index.remove(previous);
  }

  #arrange(objects: ObjectMap<T>): Contents<T> {
    const indexes = new Map<string, Index<T>>();
    for (const [name, valuesOf] of Object.entries(this.#indexFunctions)) {
      const index = new Index(valuesOf);
      for (const object of objects.values()) index.add(object);
      indexes.set(name, index);
    }
    return { objects, indexes };
  }
}
