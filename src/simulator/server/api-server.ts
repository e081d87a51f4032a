// One simulated API server: the registry of the embedded API server over the shared storage, with a watch cache of its own,
// which lags behind the storage. It answers requests that have arrived; the network is not its concern.
import { ApiError } from '../../machinery/api/api-error.ts';
import type { KubeObject } from '../../machinery/api/meta.ts';
import { objectKey } from '../../machinery/api/object-key.ts';
import { type ResourceName, resources } from '../../machinery/api/resources.ts';
import { watchTooOld } from '../../hollow-cluster/apiserver/api-errors/api-errors.ts';
import { parseListPlan, parseWatchPlan, type WatchPlan } from '../../hollow-cluster/apiserver/registry/list-query.ts';
import { ObjectLister } from '../../hollow-cluster/apiserver/registry/object-lister.ts';
import type { ObjectRegistry, Written } from '../../hollow-cluster/apiserver/registry/object-registry.ts';
import { tableOf } from '../../hollow-cluster/apiserver/resources.ts';
import { PodSubresources } from '../../hollow-cluster/apiserver/kinds/pod/pod-subresources.ts';
import { fieldLabelsOf } from '../../hollow-cluster/apiserver/registry/request-target.ts';
import { parseSelection, type Selection } from '../../hollow-cluster/apiserver/registry/selection.ts';
import { WatchCache } from '../../hollow-cluster/apiserver/storage/watch-cache.ts';
import type { Clock } from '../../machinery/ports/clock.ts';
import type { ListOptions, ListPage, ObjectName, WatchEvent, WatchOptions } from '../../machinery/ports/kube-reader.ts';
import type { DeleteOptions, PatchType, WriteOptions } from '../../machinery/ports/kube-writer.ts';
import type { Random } from '../../machinery/ports/random.ts';
import type { Timeline } from '../time/timeline.ts';
import { ServerWatch, type WatchSink } from './server-watch.ts';
import { type Requester, type Storage, writeOptions } from './storage.ts';

const bookmarkPeriodMs = 60_000;
const watchSecondsMax = 1_800;
/** Keeps the order of changes. */
const orderMs = 1e-6;
const consistentReadWaitMs = 3_000;

interface SimulatedApiServerOptions {
  readonly name: string;
  readonly storage: Storage;
  readonly timeline: Timeline;
  readonly clock: Clock;
  readonly random: Random;
  /** Lag of the watch cache behind the storage, for the next change. */
  readonly lagMs: () => number;
}

interface OpenWatch {
  readonly watch: ServerWatch;
  readonly unsubscribe: () => void;
}

export class SimulatedApiServer {
  readonly name: string;
  readonly #options: SimulatedApiServerOptions;
  readonly #registry: ObjectRegistry;
  readonly #pods: PodSubresources;
  readonly #consistent: ObjectLister;
  readonly #never = new AbortController().signal;
  readonly #watches = new Set<OpenWatch>();
  /** Called when the server stops: every connection breaks. */
  readonly #connections = new Set<() => void>();
  #cache: WatchCache;
  #cached: ObjectLister;
  /** Increases at each start: changes on the way to an earlier cache are dropped. */
  #starts = 0;
  #appliesAtMs = 0;
  #isUp = true;
  /** Whether bookmarks are sent. */
  sendsBookmarks = true;

  constructor(options: SimulatedApiServerOptions) {
    const { name, storage, clock, random, timeline } = options;
    this.name = name;
    this.#options = options;
    this.#registry = storage.registry(clock, random);
    this.#pods = new PodSubresources(this.#registry, clock, storage.budgets(this.#registry, clock));
    this.#consistent = new ObjectLister(storage.store);
    this.#cache = new WatchCache(storage.store, clock);
    this.#cached = new ObjectLister(this.#cache);
    storage.onCommit((resource, change) => {
      const start = this.#starts;
      this.#appliesAtMs = Math.max(this.#appliesAtMs + orderMs, timeline.nowMs + options.lagMs());
      timeline.at(this.#appliesAtMs, () => {
        if (this.#starts === start) this.#cache.apply(tableOf(resources[resource]), change);
      });
    });
    this.#tick();
  }

  get isUp(): boolean {
    return this.#isUp;
  }

  /** The server's process ends: every connection breaks. */
  stop(): void {
    this.#isUp = false;
    this.#starts += 1;
    for (const { unsubscribe } of this.#watches) unsubscribe();
    this.#watches.clear();
    for (const breakConnection of this.#connections) breakConnection();
    this.#connections.clear();
  }

  /** Starts with an empty window and the current state of the storage. */
  start(): void {
    const { storage, clock, timeline } = this.#options;
    this.#starts += 1;
    this.#isUp = true;
    this.#cache = new WatchCache(storage.store, clock);
    this.#cached = new ObjectLister(this.#cache);
    this.#appliesAtMs = timeline.nowMs;
  }

  /** Ends every watch cleanly, as at its timeout. */
  endWatches(): void {
    for (const { watch } of this.#watches) watch.end();
  }

  /** Drops the history of all resources: watches from earlier versions fail with 410. */
  compact(): void {
    const { store } = this.#options.storage;
    for (const [table] of store.tables()) this.#cache.table(table).window.clear(this.#cache.revision);
  }

  /** Calls back when the server stops. Returns the function that unsubscribes. */
  onStop(breakConnection: () => void): () => void {
    this.#connections.add(breakConnection);
    return () => this.#connections.delete(breakConnection);
  }

  async get(resource: ResourceName, name: ObjectName, resourceVersion: string | undefined): Promise<KubeObject> {
    const { storage } = this.#options;
    if (resourceVersion !== '0') return storage.decode(resource, this.#registry.get(storage.target(resource, name)));
    const stored = this.#cache.table(tableOf(resources[resource])).get(objectKey(name.namespace, name.name));
    return storage.decode(resource, stored ?? this.#registry.get(storage.target(resource, name)));
  }

  async list(resource: ResourceName, options: ListOptions): Promise<ListPage> {
    const { storage } = this.#options;
    const query = queryOf(options);
    const plan = parseListPlan(query);
    const isCached = plan.kind === 'now' && options.resourceVersion !== undefined && options.resourceVersion !== '';
    const lister = isCached ? this.#cached : this.#consistent;
    const selection = this.#selection(resource, options, query);
    const { metadata, items } = await lister.list(tableOf(resources[resource]), selection, plan, this.#never);
    return { metadata, items: items.map((stored) => storage.decode(resource, stored)) };
  }

  create(by: Requester, resource: ResourceName, object: KubeObject): Promise<KubeObject> {
    const target = this.#options.storage.target(resource, { namespace: object.metadata.namespace });
    return this.#written(by, resource, () => this.#registry.create(target, object, writeOptions));
  }

  replace(
    by: Requester,
    resource: ResourceName,
    object: KubeObject,
    options: Pick<WriteOptions, 'subresource'>,
  ): Promise<KubeObject> {
    const target = this.#options.storage.target(resource, object.metadata, options.subresource ?? '');
    return this.#written(by, resource, () => this.#registry.update(target, object, writeOptions));
  }

  patch(
    by: Requester,
    resource: ResourceName,
    name: ObjectName,
    patch: { readonly type: PatchType; readonly body: unknown; readonly subresource?: 'status' | undefined },
  ): Promise<KubeObject> {
    const { storage } = this.#options;
    const target = storage.target(resource, name, patch.subresource ?? '');
    const body = by.process.startsWith('replica-')
      ? storage.admit({ resource, subresource: patch.subresource }, patch.body)
      : patch.body;
    return this.#written(by, resource, () => this.#registry.patch(target, { ...patch, body }, writeOptions));
  }

  async delete(by: Requester, resource: ResourceName, name: ObjectName, options: DeleteOptions): Promise<void> {
    const { storage } = this.#options;
    storage.write(by, () => this.#registry.delete(storage.target(resource, name), { dryRun: false, ...options }));
  }

  async evict(by: Requester, pod: ObjectName, options: DeleteOptions): Promise<void> {
    const { storage } = this.#options;
    const target = storage.target('pods', pod);
    storage.write(by, () => this.#pods.evict(target, { metadata: { name: pod.name } }, { dryRun: false, ...options }));
  }

  /**
   * Opens a watch: its state or the changes since its version are sent at once. Returns the function that closes it.
   * Rejects with an ApiError if the server refuses it.
   */
  async watch(resource: ResourceName, options: WatchOptions, sink: WatchSink): Promise<() => void> {
    const query = queryOf(options);
    const plan = parseWatchPlan(query);
    const selection = this.#selection(resource, options, query);
    const starts = this.#starts;
    await this.#waitUntilFresh(plan, options);
    if (this.#starts !== starts) throw new ApiError({ reason: 'unavailable', message: 'the server is shutting down' });
    return this.#open(resource, { plan, selection, sink });
  }

  #open(
    resource: ResourceName,
    { plan, selection, sink }: { readonly plan: WatchPlan; readonly selection: Selection; readonly sink: WatchSink },
  ): () => void {
    const { storage, timeline } = this.#options;
    const table = tableOf(resources[resource]);
    const after = Math.max(plan.revision, this.#cache.revision);
    const watch = new ServerWatch({ resource, selection, storage, after, bookmarks: plan.bookmarks, sink });
    const initial = plan.stateFirst ? this.#stateOf(resource, selection) : this.#changesSince(table, plan, watch);
    if (initial.length > 0) sink.send(initial);
    if (plan.announcesEnd) watch.bookmark(this.#cache.revision, true);
    const open = { watch, unsubscribe: this.#cache.table(table).hub.add(watch) };
    this.#watches.add(open);
    const timeout = timeline.after((plan.timeoutSeconds ?? watchSecondsMax) * 1_000, () => watch.end());
    return () => {
      timeout.cancelled = true;
      open.unsubscribe();
      this.#watches.delete(open);
    };
  }

  /** A state without a version is read consistently: the cache has to reach the storage first. */
  async #waitUntilFresh(plan: WatchPlan, { resourceVersion }: WatchOptions): Promise<void> {
    if (!plan.stateFirst || resourceVersion === '0') return;
    const { storage } = this.#options;
    const revision = (resourceVersion ?? '') === '' ? storage.store.revision : plan.revision;
    if (await this.#cache.reach(revision, consistentReadWaitMs, this.#never)) return;
    throw new ApiError({
      reason: 'too-large-resource-version',
      code: 504,
      message: 'Timeout: Too large resource version',
    });
  }

  #stateOf(resource: ResourceName, selection: Selection): readonly WatchEvent[] {
    const { storage } = this.#options;
    const objects = [...this.#cache.table(tableOf(resources[resource])).now().list()];
    return objects
      .filter((object) => selection.matches(object))
      .map((object): WatchEvent => ({ type: 'ADDED', object: storage.decode(resource, object) }));
  }

  /** A version that the window no longer contains is answered with an ERROR event, as the watch itself was accepted. */
  #changesSince(table: string, plan: WatchPlan, watch: ServerWatch): readonly WatchEvent[] {
    const { window } = this.#cache.table(table);
    const changes = window.since(plan.revision === 0 ? this.#cache.revision : plan.revision);
    if (changes !== undefined) return changes.flatMap((change) => watch.eventOf(change) ?? []);
    const { status = {} } = watchTooOld(plan.revision, window.floor);
    return [{ type: 'ERROR', object: status }];
  }

  #selection(
    resource: ResourceName,
    { namespace }: { readonly namespace?: string },
    query: URLSearchParams,
  ): Selection {
    return parseSelection(query, namespace, fieldLabelsOf(this.#options.storage.target(resource)));
  }

  async #written(by: Requester, resource: ResourceName, write: () => Written): Promise<KubeObject> {
    const { storage } = this.#options;
    return storage.decode(resource, storage.write(by, write).object);
  }

  /** Bookmarks. */
  #tick(): void {
    const { timeline } = this.#options;
    if (this.sendsBookmarks) for (const { watch } of this.#watches) watch.bookmark(this.#cache.revision);
    timeline.after(bookmarkPeriodMs, () => this.#tick());
  }
}

/** The names of the options are those of the query parameters. */
function queryOf(options: ListOptions | WatchOptions): URLSearchParams {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(options)) {
    const isParameter = typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean';
    if (isParameter && name !== 'namespace') query.set(name, String(value));
  }
  return query;
}
