import { type ObjectKey, objectKey, splitKey } from '../api/object-key.ts';

/** What names an object among those of its kind; the namespace is empty where it has none. */
export interface Place {
  readonly namespace: string;
  readonly name: string;
}

/**
 * Objects by namespace and name. There is no text of both in it: for a million pods those would take a fifth of the
 * memory, and each change would have to make one and hash it. Keys are made for whoever asks for them.
 */
export class ObjectMap<T> {
  readonly #namespaces = new Map<string, Map<string, T>>();
  #size = 0;

  get size(): number {
    return this.#size;
  }

  /** Namespaces that have objects, in the order in which they came, and the objects in them by name. */
  get byNamespace(): ReadonlyMap<string, ReadonlyMap<string, T>> {
    return this.#namespaces;
  }

  get({ namespace, name }: Place): T | undefined {
    return this.#namespaces.get(namespace)?.get(name);
  }

  has(key: ObjectKey): boolean {
    const { namespace = '', name } = splitKey(key);
    return this.#namespaces.get(namespace)?.has(name) ?? false;
  }

  find(key: ObjectKey): T | undefined {
    const { namespace = '', name } = splitKey(key);
    return this.#namespaces.get(namespace)?.get(name);
  }

  set({ namespace, name }: Place, object: T): void {
    const objects = this.#namespaces.get(namespace) ?? this.#open(namespace);
    const { size } = objects;
    objects.set(name, object);
    this.#size += objects.size - size;
  }

  delete({ namespace, name }: Place): void {
    const objects = this.#namespaces.get(namespace);
    if (objects?.delete(name) !== true) return;
    this.#size -= 1;
    if (objects.size === 0) this.#namespaces.delete(namespace);
  }

  *keys(): Generator<ObjectKey> {
    for (const [namespace, objects] of this.#namespaces) {
      for (const name of objects.keys()) yield objectKey(namespace, name);
    }
  }

  *values(): Generator<T> {
    for (const objects of this.#namespaces.values()) yield* objects.values();
  }

  #open(namespace: string): Map<string, T> {
    const objects = new Map<string, T>();
    this.#namespaces.set(namespace, objects);
    return objects;
  }
}
