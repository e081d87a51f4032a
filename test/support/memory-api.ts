import { ApiError, type ApiReason } from '../../src/machinery/api/api-error.ts';
import type { KubeObject } from '../../src/machinery/api/meta.ts';
import type { Pod } from '../../src/machinery/api/pod.ts';
import { objectKey } from '../../src/machinery/api/object-key.ts';
import type { ResourceName } from '../../src/machinery/api/resources.ts';
import { formatTime } from '../../src/machinery/api/timestamps.ts';
import type { Clock } from '../../src/machinery/ports/clock.ts';
import type {
  KubeReader,
  ListOptions,
  ListPage,
  ObjectName,
  WatchEvent,
  WatchOptions,
  WatchStream,
} from '../../src/machinery/ports/kube-reader.ts';
import type { DeleteOptions, KubeWriter, PatchType, WriteOptions } from '../../src/machinery/ports/kube-writer.ts';

type Verb = 'get' | 'list' | 'watch' | 'create' | 'replace' | 'patch' | 'delete';
type Json = Readonly<Record<string, unknown>>;

export interface MemoryRequest {
  readonly verb: Verb;
  readonly resource: ResourceName;
  readonly name: string;
  readonly body?: unknown;
  /** Latency of a read that accepts cached data. */
  readonly resourceVersion?: string;
  /** Monotonic time. */
  readonly atMs: number;
}

interface Fault {
  readonly verb: Verb;
  readonly resource: ResourceName;
  readonly reason: ApiReason;
  readonly retryAfterMs?: number;
  times: number;
}

/**
 * The state of an API server in memory: versions, uids, preconditions, merge by condition type and graceful deletion of
 * pods, as far as kubelets and informers use them. It responds synchronously and records its requests.
 */
export class MemoryApi implements KubeReader, KubeWriter {
  readonly requests: MemoryRequest[] = [];
  readonly #clock: Clock;
  readonly #objects = new Map<ResourceName, Map<string, KubeObject>>();
  readonly #watchers = new Set<{ readonly resource: ResourceName; push(event: WatchEvent): void }>();
  readonly #listeners = new Set<(resource: ResourceName, event: WatchEvent) => void>();
  readonly #faults: Fault[] = [];
  #version = 0;
  #uids = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** The next `times` requests of this kind fail. */
  fail(verb: Verb, resource: ResourceName, reason: ApiReason, times = 1): void {
    this.#faults.push({ verb, resource, reason, times });
  }

  /** The next request of this kind is rejected as by an overloaded API server, with Retry-After. */
  refuse(verb: Verb, resource: ResourceName, retryAfterMs: number): void {
    this.#faults.push({ verb, resource, reason: 'too-many-requests', retryAfterMs, times: 1 });
  }

  /** Number of requests of this kind so far. */
  count(verb: Verb, resource: ResourceName): number {
    return this.requests.filter((request) => request.verb === verb && request.resource === resource).length;
  }

  /** The stored object, without a request. */
  peek(resource: ResourceName, key: string): KubeObject | undefined {
    return this.#table(resource).get(key);
  }

  onEvent(listener: (resource: ResourceName, event: WatchEvent) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  all(resource: ResourceName): readonly KubeObject[] {
    return [...this.#table(resource).values()];
  }

  async get(
    resource: ResourceName,
    name: ObjectName,
    options: { readonly resourceVersion?: string } = {},
  ): Promise<KubeObject> {
    const { resourceVersion } = options;
    this.#note('get', resource, name, resourceVersion === undefined ? {} : { resourceVersion });
    return this.#existing(resource, name);
  }

  async list(resource: ResourceName, _options: ListOptions & { readonly signal: AbortSignal }): Promise<ListPage> {
    this.#note('list', resource, { name: '' });
    return { metadata: { resourceVersion: String(this.#version) }, items: this.all(resource) };
  }

  async watch(resource: ResourceName, options: WatchOptions & { readonly signal: AbortSignal }): Promise<WatchStream> {
    this.#note('watch', resource, { name: '' });
    return this.#stream(resource, options);
  }

  async create(resource: ResourceName, object: KubeObject): Promise<KubeObject> {
    const { namespace, name = '' } = object.metadata;
    this.#note('create', resource, { name }, { body: object });
    const key = objectKey(namespace, name);
    if (this.#table(resource).has(key)) throw refusal('already-exists');
    const creationTimestamp = formatTime(this.#clock.nowMs());
    const uid = `uid-${++this.#uids}`;
    return this.#store(resource, key, { ...object, metadata: { ...object.metadata, uid, creationTimestamp } }, 'ADDED');
  }

  async replace(resource: ResourceName, object: KubeObject): Promise<KubeObject> {
    const { namespace, name = '', resourceVersion } = object.metadata;
    this.#note('replace', resource, { name }, { body: object });
    const stored = this.#existing(resource, { ...(namespace === undefined ? {} : { namespace }), name });
    if (resourceVersion !== undefined && resourceVersion !== stored.metadata.resourceVersion) throw refusal('conflict');
    return this.#store(resource, objectKey(namespace, name), object, 'MODIFIED');
  }

  async patch(
    resource: ResourceName,
    name: ObjectName,
    patch: { readonly type: PatchType; readonly body: unknown },
    _options: WriteOptions,
  ): Promise<KubeObject> {
    this.#note('patch', resource, name, { body: patch.body });
    const stored = this.#existing(resource, name);
    const body = mapOf(patch.body);
    const uid = mapOf(body['metadata'])['uid'];
    if (uid !== undefined && uid !== stored.metadata.uid) throw refusal('conflict');
    const merged = { ...stored, ...merge(mapOf(stored), body) };
    return this.#store(resource, objectKey(name.namespace, name.name), merged, 'MODIFIED');
  }

  async delete(resource: ResourceName, name: ObjectName, options: DeleteOptions): Promise<void> {
    const { uid: wantedUid, gracePeriodSeconds } = options;
    this.#note('delete', resource, name, { body: { uid: wantedUid, gracePeriodSeconds } });
    const stored = this.#existing(resource, name);
    const { uid, resourceVersion } = stored.metadata;
    if (options.uid !== uid || (options.resourceVersion ?? resourceVersion) !== resourceVersion)
      throw refusal('conflict');
    const key = objectKey(name.namespace, name.name);
    const graceSeconds = options.gracePeriodSeconds ?? 30;
    if (resource !== 'pods' || graceSeconds === 0 || isOver(stored)) this.#remove(resource, key, stored);
    else this.#markDeleted(key, stored, graceSeconds);
  }

  /** Without budgets: a deletion. */
  evict(pod: ObjectName, options: DeleteOptions): Promise<void> {
    return this.delete('pods', pod, options);
  }

  #markDeleted(key: string, stored: KubeObject, graceSeconds: number): void {
    const deletionTimestamp = formatTime(this.#clock.nowMs() + graceSeconds * 1_000);
    const metadata = { ...stored.metadata, deletionTimestamp, deletionGracePeriodSeconds: graceSeconds };
    this.#store('pods', key, { ...stored, metadata }, 'MODIFIED');
  }

  #remove(resource: ResourceName, key: string, stored: KubeObject): void {
    this.#table(resource).delete(key);
    this.#notify(resource, { type: 'DELETED', object: withVersion(stored, ++this.#version) });
  }

  #store(resource: ResourceName, key: string, object: KubeObject, type: 'ADDED' | 'MODIFIED'): KubeObject {
    const stored = withVersion(object, ++this.#version);
    this.#table(resource).set(key, stored);
    this.#notify(resource, { type, object: stored });
    return stored;
  }

  #notify(resource: ResourceName, event: WatchEvent): void {
    for (const watcher of this.#watchers) if (watcher.resource === resource) watcher.push(event);
    for (const listener of this.#listeners) listener(resource, event);
  }

  #existing(resource: ResourceName, name: ObjectName): KubeObject {
    const stored = this.#table(resource).get(objectKey(name.namespace, name.name));
    if (stored === undefined) throw missing(name.name);
    return stored;
  }

  #table(resource: ResourceName): Map<string, KubeObject> {
    const table = this.#objects.get(resource) ?? new Map<string, KubeObject>();
    this.#objects.set(resource, table);
    return table;
  }

  #note(
    verb: Verb,
    resource: ResourceName,
    { name }: ObjectName,
    more: Pick<MemoryRequest, 'body' | 'resourceVersion'> = {},
  ): void {
    this.requests.push({ verb, resource, name, ...more, atMs: this.#clock.monotonicMs() });
    const fault = this.#faults.find(
      (candidate) => candidate.verb === verb && candidate.resource === resource && candidate.times > 0,
    );
    if (fault === undefined) return;
    fault.times -= 1;
    throw refusal(fault.reason, fault.retryAfterMs);
  }

  /** Receives events from now on, whether or not they are read yet. */
  #stream(
    resource: ResourceName,
    { signal, sendInitialEvents }: WatchOptions & { readonly signal: AbortSignal },
  ): AsyncGenerator<readonly WatchEvent[]> {
    const pending: WatchEvent[] = sendInitialEvents === true ? this.#initialEvents(resource) : [];
    let wake = (): void => {};
    const push = (event: WatchEvent): void => {
      pending.push(event);
      wake();
    };
    const watcher = { resource, push };
    this.#watchers.add(watcher);
    signal.addEventListener('abort', () => {
      this.#watchers.delete(watcher);
      wake();
    });
    return read(pending, signal, (waker) => {
      wake = waker;
    });
  }

  #initialEvents(resource: ResourceName): WatchEvent[] {
    const added = this.all(resource).map((object): WatchEvent => ({ type: 'ADDED', object }));
    const metadata = {
      resourceVersion: String(this.#version),
      annotations: { 'k8s.io/initial-events-end': 'true' },
    };
    return [...added, { type: 'BOOKMARK', object: { metadata } }];
  }
}

async function* read(
  pending: WatchEvent[],
  signal: AbortSignal,
  onWait: (wake: () => void) => void,
): AsyncGenerator<readonly WatchEvent[]> {
  while (!signal.aborted) {
    if (pending.length > 0) yield pending.splice(0);
    else await new Promise<void>(onWait);
  }
}

/** The API server's own message, which names the missing object. */
function missing(name: string): ApiError {
  const status = { reason: 'NotFound', details: { name } };
  return new ApiError({ reason: 'not-found', code: 404, message: 'the memory API answers not-found', status });
}

function refusal(reason: ApiReason, retryAfterMs?: number): ApiError {
  return new ApiError({ reason, retryAfterMs, message: `the memory API answers ${reason}` });
}

function withVersion(object: KubeObject, version: number): KubeObject {
  return { ...object, metadata: { ...object.metadata, resourceVersion: String(version) } };
}

function isOver(pod: Pod): boolean {
  return pod.spec?.nodeName === undefined || pod.status?.phase === 'Succeeded' || pod.status?.phase === 'Failed';
}

function isMap(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function mapOf(value: unknown): Json {
  return isMap(value) ? value : {};
}

function mapsOf(value: unknown): readonly Json[] {
  return Array.isArray(value) ? value.filter(isMap) : [];
}

/** Maps merge, null removes, conditions merge by type in the order of the patch, other lists are replaced. */
function merge(stored: Json, patch: Json): Json {
  const merged: Record<string, unknown> = { ...stored };
  for (const [key, value] of Object.entries(patch)) {
    if (key.startsWith('$setElementOrder/')) continue;
    if (value === null) delete merged[key];
    else if (key === 'conditions') merged[key] = mergeConditions(mapsOf(stored[key]), mapsOf(value), patch);
    else if (Array.isArray(value)) merged[key] = value.filter((item) => mapOf(item)['$patch'] === undefined);
    else merged[key] = isMap(value) ? merge(mapOf(stored[key]), value) : value;
  }
  return merged;
}

function mergeConditions(stored: readonly Json[], patch: readonly Json[], around: Json): readonly Json[] {
  const byType = new Map(stored.map((item) => [item['type'], item]));
  for (const item of patch) {
    if (item['$patch'] === 'delete') byType.delete(item['type']);
    else byType.set(item['type'], merge(byType.get(item['type']) ?? {}, item));
  }
  const order = mapsOf(around['$setElementOrder/conditions']).map((item) => item['type']);
  const types = [...new Set([...order, ...byType.keys()])].filter((type) => byType.has(type));
  return types.map((type) => byType.get(type) ?? {});
}
