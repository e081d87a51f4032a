import { type ObjectKey, objectKey, splitKey } from '../api/object-key.ts';

/** Identifies an object within its kind; the namespace is empty for cluster-scoped objects. */
export interface NamespacedName {
  readonly namespace: string;
  readonly name: string;
}

/**
 * Objects by namespace and name. No joined key strings: for a million pods they would take a fifth of the memory, and
 * each change would have to build and hash one. Keys are built on demand.
 */
export class ObjectMap<T> {
  readonly #namespaces = new Map<string, Map<string, T>>();
  #size = 0;

  get size(): number {
    return this.#size;
  }

  /** Namespaces with objects, in order of insertion, and the objects in them by name. */
  get byNamespace(): ReadonlyMap<string, ReadonlyMap<string, T>> {
    return this.#namespaces;
  }

  get({ namespace, name }: NamespacedName): T | undefined {
    return this.#namespaces.get(namespace)?.get(name);
  }

  hasName({ namespace, name }: NamespacedName): boolean {
    return this.#namespaces.get(namespace)?.has(name) ?? false;
  }

  has(key: ObjectKey): boolean {
    const { namespace = '', name } = splitKey(key);
    return this.#namespaces.get(namespace)?.has(name) ?? false;
  }

  find(key: ObjectKey): T | undefined {
    const { namespace = '', name } = splitKey(key);
    return this.#namespaces.get(namespace)?.get(name);
  }

  set({ namespace, name }: NamespacedName, object: T): void {
    const objects = this.#namespaces.get(namespace) ?? this.#addNamespace(namespace);
    const { size } = objects;
    objects.set(name, object);
    this.#size += objects.size - size;
  }

  delete({ namespace, name }: NamespacedName): void {
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

  #addNamespace(namespace: string): Map<string, T> {
    const objects = new Map<string, T>();
    this.#namespaces.set(namespace, objects);
    return objects;
  }
}
