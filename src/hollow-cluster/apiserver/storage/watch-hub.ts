/**
 * The watchers of one resource. Watchers of one namespace, one object or one node's pods have buckets of their own, so
 * that a change is delivered only to buckets that it may concern; with a pod watch per node, one list would be quadratic.
 */
import type { ObjectKey } from '../../../machinery/api/object-key.ts';
import type { StoreChange } from './store-change.ts';
import type { StoredObject } from './stored-object.ts';

export interface Watcher {
  readonly bucket: string;
  /** Called in order, inside the write: must only enqueue the change. */
  deliver(change: StoreChange): void;
}

interface WatchScope {
  readonly namespace?: string | undefined;
  readonly key?: ObjectKey | undefined;
  readonly nodeName?: string | undefined;
}

/** The narrowest bucket that receives every change in that scope. */
export function bucketOf(scope: WatchScope): string {
  if (scope.key !== undefined) return scope.key;
  if (scope.nodeName !== undefined) return nodeBucket(scope.nodeName);
  return scope.namespace === undefined ? '' : namespaceBucket(scope.namespace);
}

const namespaceBucket = (namespace: string): string => `${namespace}/`;
const nodeBucket = (nodeName: string): string => `node=${nodeName}`;

export class WatchHub {
  readonly #buckets = new Map<string, Set<Watcher>>();
  #size = 0;

  get size(): number {
    return this.#size;
  }

  /** Returns the unsubscribe function, which is idempotent. */
  add(watcher: Watcher): () => void {
    const bucket = this.#buckets.get(watcher.bucket) ?? new Set();
    this.#buckets.set(watcher.bucket, bucket);
    bucket.add(watcher);
    this.#size += 1;
    return () => {
      if (!bucket.delete(watcher)) return;
      this.#size -= 1;
      if (bucket.size === 0 && this.#buckets.get(watcher.bucket) === bucket) this.#buckets.delete(watcher.bucket);
    };
  }

  publish(change: StoreChange): void {
    const { object, previous } = change;
    this.#deliver('', change);
    // Most resources have watchers of all objects only.
    if (this.#buckets.size === (this.#buckets.has('') ? 1 : 0)) return;
    this.#deliver(namespaceBucket(object.namespace), change);
    this.#deliver(object.key, change);
    const nodeName = nodeNameOf(object);
    const nodeNameBefore = previous === undefined ? nodeName : nodeNameOf(previous);
    this.#deliver(nodeBucket(nodeName), change);
    if (nodeNameBefore !== nodeName) this.#deliver(nodeBucket(nodeNameBefore), change);
  }

  #deliver(bucket: string, change: StoreChange): void {
    const watchers = this.#buckets.get(bucket);
    if (watchers === undefined) return;
    for (const watcher of watchers) watcher.deliver(change);
  }
}

function nodeNameOf(object: StoredObject): string {
  return object.fields['spec.nodeName'] ?? '';
}
