// An informer keeps a local, read-only copy of one kind of object and says which keys changed. The copy is made of small
// views: an object as the server sends it lives only while it is decoded. Many can listen to one informer.
import type { KubeObject } from '../api/meta.ts';
import { keyOf, objectKey } from '../api/object-key.ts';
import type { ResourceName } from '../api/resources.ts';
import type { Clock } from '../ports/clock.ts';
import type { KubeReader, Selection } from '../ports/kube-reader.ts';
import type { Logger } from '../ports/logger.ts';
import type { Meter } from '../ports/meter.ts';
import type { Random } from '../ports/random.ts';
import { isStale } from './decide-staleness.ts';
import { describeArrival, diffStores, type Identify } from './diff-stores.ts';
import type { Change, Informer, InformerStatus, Listener, StoreReader } from './informer.ts';
import { ListWatch, type QuietLimit, quietMsMaxDefault } from './list-watch.ts';
import { Listeners } from './listeners.ts';
import { MalformedObjects } from './malformed-objects.ts';
import { staleEvents, storeObjects, streamStaleness } from './metrics.ts';
import type { ObjectMap } from './object-map.ts';
import { SharedValues } from './shared-values.ts';
import { type IndexFunctions, Store } from './store.ts';
import { type ObjectEventType, type Placed, readObject } from './watch-reading.ts';

export interface SharedInformerOptions<Raw extends KubeObject, View> {
  readonly resource: ResourceName;
  /** All objects of the resource when absent. */
  readonly selection?: Selection;
  /** Projects an object while it is decoded. Runs once for each arrival. A method, since what arrives is taken for a Raw. */
  view(raw: Raw): View;
  /** What names one state of one object. */
  readonly identity: Identify<View>;
  readonly indexes?: IndexFunctions<View>;
  /** Fields of a view whose values many objects have in common: one copy of each value is kept. */
  readonly shared?: readonly (keyof View & string)[];
  /** What was not as it should be in the object behind this view; undefined where nothing was. */
  readonly flawsOf?: (view: View) => readonly string[] | undefined;
  readonly api: KubeReader;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  readonly meter: Meter;
  /** Silence after which a watch is opened again, in milliseconds; 90 s when absent. */
  readonly quietMsMax?: number;
  /** The same for a resource that is never quiet, by the number of its objects; doubled each time that it was wrong. */
  readonly busyQuietMs?: (objects: number) => number;
}

/**
 * The informer that runs (client-go `SharedIndexInformer` over its `Reflector`). Listeners are called when all of a batch
 * is in the store, and before anybody else runs: nobody sees the one without the other. A deletion that was missed while
 * the watch was down is told after the next complete state; a name that changed hands is told as a deletion and an
 * addition; an object that a relist found unchanged is not told at all.
 */
export class SharedInformer<Raw extends KubeObject, View extends object> implements Informer<View> {
  readonly name: string;
  readonly #options: SharedInformerOptions<Raw, View>;
  readonly #labels: { readonly resource: string };
  readonly #store: Store<View>;
  readonly #sharedValues = new SharedValues();
  readonly #listeners: Listeners<View>;
  /** In the store, and not yet told. Empty whenever others run. */
  #untold: Change<View>[] = [];
  readonly #malformed: MalformedObjects;
  readonly #listWatch: ListWatch<View>;
  readonly #synced = Promise.withResolvers<void>();
  #running = false;

  constructor(options: SharedInformerOptions<Raw, View>) {
    this.#options = options;
    this.name = options.resource;
    this.#labels = { resource: options.resource };
    this.#store = new Store(options.indexes);
    this.#malformed = new MalformedObjects(options.resource, options.logger, options.meter);
    this.#listeners = new Listeners(options);
    this.#listWatch = this.#createListWatch();
  }

  get store(): StoreReader<View> {
    return this.#store;
  }

  onChange(name: string, listener: Listener<View>): () => void {
    return this.#listeners.join(name, listener, this.#everything());
  }

  hasSynced(): boolean {
    return this.#listWatch.record.synced;
  }

  /** Resolves at the first complete state; never, if there is none. */
  whenSynced(): Promise<void> {
    return this.#synced.promise;
  }

  status(): InformerStatus {
    return this.#listWatch.record.snapshot();
  }

  reopen(): void {
    this.#listWatch.reopen();
  }

  /** Throws where it was started before: an informer runs once. */
  async run(signal: AbortSignal): Promise<void> {
    if (this.#running) throw new Error(`the informer of ${this.name} was started twice`);
    this.#running = true;
    this.#showStaleness();
    await this.#listWatch.run(signal);
  }

  #showStaleness(): void {
    const { clock, meter } = this.#options;
    const begunAtMs = clock.monotonicMs();
    meter.onRead(() => {
      const heardAtMs = this.status().lastFrameAtMs ?? begunAtMs;
      meter.set(streamStaleness, Math.max(0, clock.monotonicMs() - heardAtMs) / 1_000, this.#labels);
    });
  }

  #createListWatch(): ListWatch<View> {
    const { resource, selection = {}, api, clock, random, logger, meter } = this.#options;
    return new ListWatch({
      resource,
      selection,
      api,
      clock,
      random,
      logger,
      meter,
      quietMsMax: (stream) => this.#quietMs(stream),
      read: (raw) => this.#read(raw),
      sink: {
        replace: (objects) => this.#replace(objects),
        apply: (type, arrival, reached) => this.#apply(type, arrival, reached),
        isStale: (type, object, known, reached) => this.#isStale(type, object, known, reached),
        tell: () => this.#tell(),
      },
    });
  }

  #quietMs({ following, trips }: Parameters<QuietLimit>[0]): number {
    const { quietMsMax = quietMsMaxDefault, busyQuietMs } = this.#options;
    if (!following || busyQuietMs === undefined) return quietMsMax;
    return Math.min(quietMsMax, busyQuietMs(this.#store.size) * 2 ** trips);
  }

  *#everything(): Iterable<Change<View>> {
    for (const [namespace, objects] of this.#store.contents().byNamespace) {
      for (const [name, object] of objects) yield { kind: 'added', key: objectKey(namespace, name), object };
    }
  }

  #read(raw: KubeObject): Placed<View> | undefined {
    const read = readObject(raw, this.#options);
    if (read === undefined) {
      this.#malformed.lookAtNameless();
      return undefined;
    }
    this.#malformed.look(read, this.#options.flawsOf?.(read.object));
    const object = this.#withSharedValues(read.object);
    return object === read.object ? read : { ...read, object };
  }

  #withSharedValues(view: View): View {
    const { shared = [] } = this.#options;
    let values: Record<string, unknown> | undefined;
    for (const field of shared) {
      const value = this.#sharedValues.share(view[field]);
      if (value === view[field]) continue;
      values ??= {};
      values[field] = value;
    }
    // One copy, and not one for each of them.
    return values === undefined ? view : { ...view, ...values };
  }

  #replace(objects: ObjectMap<View>): void {
    const { identity } = this.#options;
    const changes = diffStores(this.#store.contents(), objects, identity);
    this.#store.replaceAll(objects);
    this.#malformed.keepOnly(objects);
    this.#options.meter.set(storeObjects, this.#store.size, this.#labels);
    this.#listeners.announce(changes);
    this.#synced.resolve();
  }

  #apply(type: ObjectEventType, arrival: Placed<View>, reached: string): void {
    const previous = this.#store.contents().get(arrival);
    if (this.#isStale(type, arrival.object, previous, reached)) return;
    const { size } = this.#store;
    if (type === 'DELETED') this.#delete(arrival, previous);
    else this.#set(arrival, previous);
    if (this.#store.size !== size) this.#options.meter.set(storeObjects, this.#store.size, this.#labels);
  }

  #isStale(type: ObjectEventType, object: View, known: View | undefined, reached: string): boolean {
    const { identity, meter } = this.#options;
    const { uid, resourceVersion } = identity(object);
    const stored = known === undefined ? undefined : identity(known);
    const stale = isStale({ type, uid, resourceVersion }, stored, reached);
    if (stale) meter.add(staleEvents, 1, this.#labels);
    return stale;
  }

  #set(arrival: Placed<View>, previous: View | undefined): void {
    const { object } = arrival;
    this.#store.set(arrival, object);
    for (const change of describeArrival(keyOf(arrival), object, previous, this.#options.identity)) {
      this.#untold.push(change);
    }
  }

  /** Nobody has heard of what is not in the store, so nobody need hear that it is gone. */
  #delete(arrival: Placed<View>, previous: View | undefined): void {
    this.#malformed.forget(arrival);
    if (previous === undefined) return;
    this.#store.delete(arrival);
    this.#untold.push({ kind: 'deleted', key: keyOf(arrival), object: arrival.object });
  }

  #tell(): void {
    const changes = this.#untold;
    if (changes.length === 0) return;
    this.#untold = [];
    this.#listeners.announce(changes);
  }
}
