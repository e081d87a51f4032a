/**
 * All objects of one resource: the current state, and past states as far as the watch window and kept snapshots allow.
 * Trees are cloned in constant time and share unchanged nodes, so a snapshot for a paged list costs only the changes
 * made since.
 */
import sortedBtree from 'sorted-btree';
import type { ObjectKey } from '../../../machinery/api/object-key.ts';
import type { StoreChange } from './store-change.ts';
import type { StoredObject } from './stored-object.ts';
import { WatchHub } from './watch-hub.ts';
import { WatchWindow, type WindowSize } from './watch-window.ts';

const BTree = sortedBtree.default;
type Tree = InstanceType<typeof BTree<ObjectKey, StoredObject>>;

/** Snapshots kept for unfinished paged lists; the oldest is dropped, and its later pages fail with 410. */
const snapshotsMax = 64;

/** An immutable state. */
export interface Snapshot {
  /** Objects in bytewise key order: those of the namespace, if it is given, whose key is not below `from`. */
  list(namespace?: string, from?: ObjectKey): Iterable<StoredObject>;
}

export class ResourceTable {
  readonly hub = new WatchHub();
  readonly window: WatchWindow;
  readonly #tree: Tree = new BTree<ObjectKey, StoredObject>(undefined, compareKeys);
  readonly #snapshots = new Map<number, Tree>();
  /** Revision of the last change of this table: the current state is also the state at every later revision. */
  #changedAt: number;
  /** State of now, since the last change: it is read more often than it changes. */
  #now: Snapshot | undefined;

  constructor(revision: number, size: WindowSize | undefined) {
    this.window = new WatchWindow(revision, size);
    this.#changedAt = revision;
  }

  get size(): number {
    return this.#tree.size;
  }

  get(key: ObjectKey): StoredObject | undefined {
    return this.#tree.get(key);
  }

  apply(change: StoreChange): void {
    this.#now = undefined;
    if (change.kind === 'deleted') this.#tree.delete(change.object.key);
    else this.#tree.set(change.object.key, change.object);
    this.#changedAt = change.revision;
    this.window.append(change);
    this.hub.publish(change);
  }

  /** Replaces the state and drops the history; watchers are not notified. */
  reset(state: Snapshot | undefined, revision: number): void {
    this.#now = undefined;
    this.#tree.clear();
    for (const object of state?.list() ?? []) this.#tree.set(object.key, object);
    this.#snapshots.clear();
    this.#changedAt = revision;
    this.window.clear(revision);
  }

  now(): Snapshot {
    this.#now ??= asSnapshot(this.#tree.clone());
    return this.#now;
  }

  /** The state at `revision`; undefined if it is no longer available. */
  at(revision: number): Snapshot | undefined {
    if (revision >= this.#changedAt) return this.now();
    const kept = this.#snapshots.get(revision);
    if (kept !== undefined) return asSnapshot(kept);
    const later = this.window.since(revision);
    return later === undefined ? undefined : asSnapshot(undo(this.#tree.clone(), later));
  }

  /** Keeps the current state for later pages of a list at `revision`. */
  keep(revision: number): void {
    if (this.#snapshots.has(revision)) return;
    this.#snapshots.set(revision, this.#tree.clone());
    const oldest = this.#snapshots.keys().next();
    if (this.#snapshots.size > snapshotsMax && oldest.done !== true) this.#snapshots.delete(oldest.value);
  }

  /** Drops snapshots older than `revision`. */
  compact(revision: number): void {
    for (const kept of this.#snapshots.keys()) if (kept < revision) this.#snapshots.delete(kept);
  }
}

function undo(tree: Tree, later: readonly StoreChange[]): Tree {
  for (const change of [...later].reverse()) {
    if (change.previous === undefined) tree.delete(change.object.key);
    else tree.set(change.object.key, change.previous);
  }
  return tree;
}

/** The objects as a state to restore. */
export function snapshotOf(objects: readonly StoredObject[]): Snapshot {
  const tree: Tree = new BTree<ObjectKey, StoredObject>(undefined, compareKeys);
  for (const object of objects) tree.set(object.key, object);
  return asSnapshot(tree);
}

function asSnapshot(tree: Tree): Snapshot {
  return {
    list: (namespace, from = '') => (namespace === undefined ? tree.values(from) : listWithin(tree, namespace, from)),
  };
}

function* listWithin(tree: Tree, namespace: string, from: ObjectKey): Iterable<StoredObject> {
  const prefix = `${namespace}/`;
  for (const object of tree.values(from > prefix ? from : prefix)) {
    if (!object.key.startsWith(prefix)) return;
    yield object;
  }
}

function compareKeys(a: ObjectKey, b: ObjectKey): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}
