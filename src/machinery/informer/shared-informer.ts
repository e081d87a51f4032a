// An informer keeps a local, read-only copy of one resource and reports changed keys. The copy consists of small
// views: an object as received lives only while it is decoded. Many listeners can share one informer.
import type { KubeObject } from '../api/meta.ts';
import { keyOf, type ObjectKey, objectKey } from '../api/object-key.ts';
import type { ResourceName } from '../api/resources.ts';
import type { KubeReader } from '../ports/kube-reader.ts';
import type { Random } from '../ports/random.ts';
import type { ApiContact } from '../supervision/api-contact.ts';
import { isOlder } from '../api/resource-version.ts';
import { diffObject, diffStores, isStale } from './diff-stores.ts';
import type { Change, Informer, InformerStatus, Listener, StoreReader } from './informer.ts';
import { Reflector, type QuietLimit, quietMsMaxDefault } from './reflector.ts';
import { Listeners } from './listeners.ts';
import { storeObjects, streamStaleness } from './metrics.ts';
import type { ObjectMap } from './object-map.ts';
import { type IndexFunctions, Store } from './store.ts';
import { type NamespacedObject, ObjectReader, type ObjectReaderOptions, Unreadable } from './object-reader.ts';
import type { ShownVersion } from './read-pages.ts';
import type { Delta } from './watch-handler.ts';

export interface SharedInformerOptions<Raw extends KubeObject, View> extends ObjectReaderOptions<Raw, View> {
  readonly resource: ResourceName;
  readonly indexes?: IndexFunctions<View>;
  readonly api: KubeReader;
  readonly random: Random;
  /**
   * Contact that all clients of the process share: an answer to one ends the backoffs of all after an outage. Absent: one
   * of its own.
   */
  readonly contact?: ApiContact | undefined;
  /** Milliseconds without events after which a watch is reopened; 90 s when absent. */
  readonly quietMsMax?: number;
  /** Quiet limit of a resource that is never idle, by its number of objects; doubled with each consecutive false alarm. */
  readonly busyQuietMs?: (objects: number) => number;
  /** Called with the version of the storage when a consistent read has shown it, for the informers of other resources. */
  readonly onVersion?: (shown: ShownVersion) => void;
  /**
   * Called when the storage is found at an older version than the one that the watch continued from: it was restored from a
   * backup, and may have passed the versions of other resources again.
   */
  readonly onRollback?: () => void;
}

/**
 * Implementation of the informer (client-go `SharedIndexInformer` with its `Reflector`). Listeners are called when the
 * whole batch is in the store, and before any other code runs, so that store and listeners are always consistent. A
 * deletion missed while the watch was down is delivered after the next complete state; a name that is reused by another
 * object is delivered as a deletion and an addition; an object that a relist found unchanged is not delivered.
 */
export class SharedInformer<Raw extends KubeObject, View extends object> implements Informer<View> {
  readonly name: string;
  readonly #options: SharedInformerOptions<Raw, View>;
  readonly #labels: { readonly resource: string };
  readonly #store: Store<View>;
  readonly #listeners: Listeners<View>;
  readonly #reader: ObjectReader<View>;
  readonly #reflector: Reflector<View>;
  readonly #synced = Promise.withResolvers<void>();
  #running = false;

  constructor(options: SharedInformerOptions<Raw, View>) {
    this.#options = options;
    this.name = options.resource;
    this.#labels = { resource: options.resource };
    this.#store = new Store(options.indexes);
    this.#reader = new ObjectReader(options);
    this.#listeners = new Listeners(options);
    this.#reflector = this.#createReflector();
  }

  get store(): StoreReader<View> {
    return this.#store;
  }

  onChange(name: string, listener: Listener<View>): () => void {
    return this.#listeners.add(name, listener, this.#allAsAdded());
  }

  hasSynced(): boolean {
    return this.#reflector.record.synced;
  }

  /** Resolves at the first complete state; pending as long as none is read. */
  whenSynced(): Promise<void> {
    return this.#synced.promise;
  }

  status(): InformerStatus {
    return this.#reflector.record;
  }

  isUndecoded(key: ObjectKey): boolean {
    return this.#reader.isUndecoded(key);
  }

  reopen(openedByMs?: number): void {
    this.#reflector.reopen(openedByMs);
  }

  relist(): void {
    this.#reflector.relist('requested');
  }

  noticeRollback(): void {
    this.#reflector.noticeRollback();
  }

  /**
   * Notes a version that another informer of the same storage has read. If it is older than what this one had reached when that read was
   * sent, the storage was restored from a backup; while no watch is open, a list follows instead of a watch that would miss
   * what changed until the storage passes the reached version. Resources in storages of their own cost an unnecessary
   * list.
   */
  noticeStorageVersion(shown: ShownVersion): void {
    this.#reflector.noticeStorageVersion(shown);
  }

  noticeServerVersion(serverVersion: string, reachedBefore: string): boolean {
    return this.#reflector.noticeServerVersion(serverVersion, reachedBefore);
  }

  /** Throws if it was started before: an informer runs once. */
  async run(signal: AbortSignal): Promise<void> {
    if (this.#running) throw new Error(`the informer of ${this.name} is already started`);
    this.#running = true;
    this.#showStaleness();
    await this.#reflector.run(signal);
  }

  #showStaleness(): void {
    const { clock, meter } = this.#options;
    const startedAtMs = clock.monotonicMs();
    meter.onRead(() => {
      const sinceMs = this.status().lastFrameAtMs ?? startedAtMs;
      meter.set(streamStaleness, Math.max(0, clock.monotonicMs() - sinceMs) / 1_000, this.#labels);
    });
  }

  #createReflector(): Reflector<View> {
    const { selection = {} } = this.#options;
    return new Reflector({
      ...this.#options,
      selection,
      quietMsMax: (stream) => this.#quietMs(stream),
      reader: this.#reader,
      stored: () => this.#store.contents(),
      replace: (objects, isSameHistory) => this.#replace(objects, isSameHistory),
      apply: (deltas) => this.#apply(deltas),
    });
  }

  #quietMs({ following, trips }: Parameters<QuietLimit>[0]): number {
    const { quietMsMax = quietMsMaxDefault, busyQuietMs } = this.#options;
    if (!following || busyQuietMs === undefined) return quietMsMax;
    return Math.min(quietMsMax, busyQuietMs(this.#store.size) * 2 ** trips);
  }

  *#allAsAdded(): Iterable<Change<View>> {
    for (const [namespace, objects] of this.#store.contents().byNamespace) {
      for (const [name, object] of objects) yield { kind: 'added', key: objectKey(namespace, name), object };
    }
  }

  #replace(objects: ObjectMap<View>, isSameHistory: boolean): void {
    const { identity } = this.#options;
    const changes = diffStores(this.#store.contents(), objects, identity, isSameHistory);
    this.#store.replaceAll(objects);
    this.#reader.keepOnly(objects);
    this.#options.meter.set(storeObjects, this.#store.size, this.#labels);
    this.#listeners.deliver(changes);
    this.#synced.resolve();
  }

  #apply(deltas: readonly Delta<View>[]): void {
    const { size } = this.#store;
    const changes = deltas.flatMap((delta) => this.#applyDelta(delta));
    if (this.#store.size !== size) this.#options.meter.set(storeObjects, this.#store.size, this.#labels);
    if (changes.length > 0) this.#listeners.deliver(changes);
  }

  #applyDelta({ type, object, reached }: Delta<View>): readonly Change<View>[] {
    if (object instanceof Unreadable) return this.#deleteUnreadable(object, reached);
    const previous = this.#store.contents().get(object);
    if (this.#reader.isStale(type, object.object, this.#reachedBy(reached, previous), reached)) return [];
    if (type === 'DELETED') return this.#delete(object, previous);
    this.#store.set(object, object.object);
    return diffObject(keyOf(object), object.object, previous, this.#options.identity);
  }

  /** A deletion whose object could not be decoded: its last stored state is delivered. */
  #deleteUnreadable({ name, uid, resourceVersion }: Unreadable, reached: string): readonly Change<View>[] {
    const known = name === undefined ? undefined : this.#store.contents().get(name);
    if (name === undefined || known === undefined) return [];
    const reachedKnown = this.#reachedBy(reached, known);
    const stored = reachedKnown && this.#options.identity(reachedKnown);
    if (isStale({ type: 'DELETED', uid, resourceVersion }, stored, reached, this.#reader.isSelective)) return [];
    return this.#delete({ ...name, object: known }, known);
  }

  /**
   * Undefined for a state that the storage has not reached: it is of the history before a restore, kept because the object
   * could not be decoded, and no change of the present one is older.
   */
  #reachedBy(reached: string, stored: View | undefined): View | undefined {
    const isReached = stored === undefined || !isOlder(reached, this.#options.identity(stored).resourceVersion);
    return isReached ? stored : undefined;
  }

  /** An object that is not in the store was never delivered, so its deletion is not delivered either. */
  #delete(received: NamespacedObject<View>, previous: View | undefined): readonly Change<View>[] {
    this.#reader.forget(received);
    if (previous === undefined) return [];
    this.#store.delete(received);
    return [{ kind: 'deleted', key: keyOf(received), object: received.object }];
  }
}
