// The API server over HTTP. Reads and writes are one class because they share sockets, rate limit and credentials; a
// caller that only reads gets it as a KubeReader.
import { ApiError } from '../api/api-error.ts';
import type { KubeObject } from '../api/meta.ts';
import { groupVersion, type ResourceName, resourcePath, resources } from '../api/resources.ts';
import type { Ambient } from '../ports/ambient.ts';
import type {
  KubeReader,
  ListOptions,
  ListPage,
  ListTaking,
  ObjectName,
  UndecodableObject,
  WatchOptions,
  WatchStream,
} from '../ports/kube-reader.ts';
import type { DeleteOptions, KubeWriter, PatchType, PodBinder, WriteOptions } from '../ports/kube-writer.ts';
import type { Random } from '../ports/random.ts';
import { ResponseDecoder } from './response-decoder.ts';
import { bodyBytesMaxDefault, readBody } from './body.ts';
import type { Connection } from './connection.ts';
import { HttpTransport, type HttpRequest } from './transport.ts';
import { formatQuery, listQuery, watchQuery } from './query.ts';
import type { Receiver } from './read-pace.ts';
import { RequestRateLimit } from '../supervision/request-rate-limit.ts';
import { retriesMaxDefault } from '../supervision/request-retry.ts';
import { watchStream } from './watch-stream.ts';
import { isProtobufResource } from '../wire/protobuf-objects.ts';
import { SystemRandom } from '../adapters/system-random.ts';
import { acceptHeader, type WireType } from '../wire/wire-format.ts';

const requestTimeoutMsDefault = 30_000;
const writeTimeoutMsDefault = 10_000;
/** A streamed list fails if no bytes arrive for the request timeout, or after this. */
const streamMsMaxDefault = 600_000;
/** Longer than an informer's own timeout, which applies first; this is for watches without an informer. */
const watchQuietMsMaxDefault = 120_000;

export interface HttpKubeApiOptions extends Ambient {
  readonly connection: Connection;
  /** Defaults to the system's. */
  readonly random?: Random;
  readonly userAgent: string;
  /** Sent with every write, for managedFields. */
  readonly fieldManager: string;
  /** Sustained rate of unary requests per second; 0 or less: no limit. Watches are not limited. */
  readonly qps: number;
  readonly burst: number;
  /**
   * Maximum number of connections for unary calls; further requests wait for one. To be at least the number of requests
   * that the caller has in flight, else those that hang delay the others.
   */
  readonly unaryConnectionsMax?: number | undefined;
  /** Timeout of one attempt; a list may wait up to `readWaitMsMax` for retries in addition. */
  readonly requestTimeoutMs?: number;
  /** Timeout of one attempt at a write, if shorter. */
  readonly writeTimeoutMs?: number;
  /** Maximum duration of one attempt at a list with `each`, where `requestTimeoutMs` counts from the last bytes. */
  readonly streamMsMax?: number;
  /** Retries of one read. 0: the caller retries. Writes are never retried. */
  readonly retriesMax?: number;
  /** Called immediately before each write is sent; false fails it with `aborted`. */
  readonly mayWrite?: () => boolean;
  /**
   * What acts on the events of watches. A busy watch is read every 100 ms, at once before the receiver decides, and every
   * 250 ms while it is quiet. Absent: nothing decides by them.
   */
  readonly receiver?: Receiver;
  readonly watchQuietMsMax?: number;
  readonly bodyBytesMax?: number;
  /**
   * The requested encoding of nodes, pods and leases; all other resources are JSON. Protobuf objects have only the fields
   * that the transforms read, so a caller that writes back what it read must use JSON, the default.
   */
  readonly contentType?: WireType;
}

const patchContentTypes: Readonly<Record<PatchType, string>> = {
  'strategic-merge': 'application/strategic-merge-patch+json',
  merge: 'application/merge-patch+json',
  json: 'application/json-patch+json',
};

/** Every method rejects only with an ApiError. Opens no connection before the first call. */
export class HttpKubeApi implements KubeReader, KubeWriter, PodBinder {
  readonly #transport: HttpTransport;
  readonly #decoder = new ResponseDecoder();
  readonly #fieldManager: string;
  readonly #contentType: WireType;
  readonly #bodyBytesMax: number;

  constructor(options: HttpKubeApiOptions) {
    this.#fieldManager = options.fieldManager;
    this.#contentType = options.contentType ?? 'application/json';
    this.#bodyBytesMax = options.bodyBytesMax ?? bodyBytesMaxDefault;
    this.#transport = new HttpTransport({
      requestTimeoutMs: requestTimeoutMsDefault,
      writeTimeoutMs: writeTimeoutMsDefault,
      streamMsMax: streamMsMaxDefault,
      retriesMax: retriesMaxDefault,
      watchQuietMsMax: watchQuietMsMaxDefault,
      bodyBytesMax: bodyBytesMaxDefault,
      random: new SystemRandom(),
      ...options,
      limit: new RequestRateLimit(options),
    });
  }

  /** Callers decide on the response, so a `get` never waits for a retry: with Retry-After it rejects at once. */
  async get(
    resource: ResourceName,
    name: ObjectName,
    options: { readonly resourceVersion?: string; readonly whole?: boolean; readonly signal: AbortSignal },
  ): Promise<KubeObject> {
    const { resourceVersion, whole = false, signal } = options;
    const path = `${pathOf(resource, name)}${formatQuery({ resourceVersion })}`;
    const accept = whole ? acceptHeader('application/json', '') : this.#accept(resource);
    const request = { method: 'GET', path, signal, accept, waitMsMax: 0 } as const;
    return this.#transport.send(request, (answer) => this.#decoder.readObject(resource, answer, this.#bodyBytesMax));
  }

  async list(
    resource: ResourceName,
    options: ListOptions & ListTaking & { readonly signal: AbortSignal },
  ): Promise<ListPage> {
    const path = `${collectionPath(resource, options.namespace)}${listQuery(options)}`;
    const { signal, each, waitMsMax } = options;
    const patience = waitMsMax === undefined ? {} : { waitMsMax };
    const request = { method: 'GET', path, signal, accept: this.#accept(resource), ...patience } as const;
    if (each === undefined) return this.#readList(resource, request);
    let isSpent = false;
    const take = (item: KubeObject): void => {
      isSpent = true;
      deliver(item, each);
    };
    return this.#readList(resource, { ...request, isStreamed: true, isSpent: () => isSpent }, take);
  }

  async watch(resource: ResourceName, options: WatchOptions & { readonly signal: AbortSignal }): Promise<WatchStream> {
    const path = `${collectionPath(resource, options.namespace)}${watchQuery(options)}`;
    const accept = this.#accept(resource, ';stream=watch');
    const watch = await this.#transport.open({ method: 'GET', path, signal: options.signal, accept });
    try {
      return watchStream(watch, this.#decoder.watchDecoder(resource, watch.contentType));
    } catch (error) {
      watch.body.destroy();
      watch.release();
      throw error;
    }
  }

  async create(resource: ResourceName, object: KubeObject, options: WriteOptions): Promise<KubeObject> {
    const { namespace, name } = object.metadata;
    const path =
      options.subresource === undefined
        ? collectionPath(resource, namespaceOf(resource, namespace))
        : resourcePath(resources[resource], { namespace, name, subresource: options.subresource });
    return this.#write({ ...options, method: 'POST', path, body: encode(resource, object) });
  }

  async replace(resource: ResourceName, object: KubeObject, options: WriteOptions): Promise<KubeObject> {
    const { namespace, name } = object.metadata;
    if (name === undefined) throw badRequest(`${resource}: metadata.name is required`);
    const path = pathOf(resource, { name, ...(namespace === undefined ? {} : { namespace }) }, options.subresource);
    return this.#write({ ...options, method: 'PUT', path, body: encode(resource, object) });
  }

  async patch(
    resource: ResourceName,
    name: ObjectName,
    patch: { readonly type: PatchType; readonly body: unknown },
    options: WriteOptions,
  ): Promise<KubeObject> {
    const path = pathOf(resource, name, options.subresource);
    const contentType = patchContentTypes[patch.type];
    const body = JSON.stringify(patch.body);
    const accept = this.#accept(resource);
    return this.#write({ ...options, method: 'PATCH', path, body, contentType, accept }, resource);
  }

  /** All options are in the body: with a body the API server ignores the query (apiserver `DeleteResource`). */
  async delete(resource: ResourceName, name: ObjectName, options: DeleteOptions): Promise<void> {
    const { signal, uid, resourceVersion, gracePeriodSeconds, stillWanted, lane } = options;
    const body = JSON.stringify({
      kind: 'DeleteOptions',
      apiVersion: 'v1',
      preconditions: { uid, resourceVersion },
      gracePeriodSeconds,
    });
    const path = pathOf(resource, name);
    const contentType = 'application/json';
    const accept = this.#accept(resource);
    const request = { method: 'DELETE', path, signal, body, contentType, accept, stillWanted, lane } as const;
    await this.#transport.send(request, ({ chunks }) => readBody(chunks, this.#bodyBytesMax));
  }

  async evict(pod: ObjectName, options: DeleteOptions): Promise<void> {
    const { signal, uid, resourceVersion, gracePeriodSeconds, stillWanted, lane } = options;
    const { namespace, name } = pod;
    const eviction = {
      kind: 'Eviction',
      apiVersion: 'policy/v1',
      metadata: { namespace, name },
      deleteOptions: { preconditions: { uid, resourceVersion }, gracePeriodSeconds },
    };
    const path = pathOf('pods', pod, 'eviction');
    await this.#write({ method: 'POST', path, signal, body: JSON.stringify(eviction), stillWanted, lane });
  }

  async bind(
    pod: ObjectName & { readonly uid: string },
    node: string,
    { signal }: { readonly signal: AbortSignal },
  ): Promise<void> {
    const { namespace, name, uid } = pod;
    const target = { apiVersion: 'v1', kind: 'Node', name: node };
    const binding = { kind: 'Binding', apiVersion: 'v1', metadata: { namespace, name, uid }, target };
    await this.#write({ method: 'POST', path: pathOf('pods', pod, 'binding'), signal, body: JSON.stringify(binding) });
  }

  /** POSTs an object that is not stored, such as a TokenReview, and resolves with the response. Not retried. */
  async review(path: string, review: object, { signal }: { readonly signal: AbortSignal }): Promise<KubeObject> {
    return this.#write({ method: 'POST', path, signal, body: JSON.stringify(review) });
  }

  /** Fails every call and watch with `aborted`; closes all sockets and timers. */
  async close(): Promise<void> {
    await this.#transport.close();
  }

  #accept(resource: ResourceName, parameters = ''): string {
    return acceptHeader(isProtobufResource(resource) ? this.#contentType : 'application/json', parameters);
  }

  /** One page; with `each` its objects are passed on as they arrive, and their total size is not limited. */
  async #readList(resource: ResourceName, request: HttpRequest, each?: (item: KubeObject) => void): Promise<ListPage> {
    const bytesMax = each === undefined ? this.#bodyBytesMax : Number.POSITIVE_INFINITY;
    return this.#transport.send(request, async (answer) => {
      const items: KubeObject[] = [];
      const undecodable: UndecodableObject[] = [];
      const take = each ?? ((item: KubeObject): unknown => items.push(item));
      const skip = (item: UndecodableObject): unknown => undecodable.push(item);
      const metadata = await this.#decoder.readList(resource, answer, { bytesMax, take, skip });
      return { metadata, items, ...(undecodable.length === 0 ? {} : { undecodable }) };
    });
  }

  /** `resource`: undefined where only JSON is requested. */
  async #write(request: HttpRequest, resource?: ResourceName): Promise<KubeObject> {
    const path = `${request.path}${formatQuery({ fieldManager: this.#fieldManager })}`;
    const write = { contentType: 'application/json', ...request, path };
    return this.#transport.send(write, (answer) => this.#decoder.readObject(resource, answer, this.#bodyBytesMax));
  }
}

function collectionPath(resource: ResourceName, namespace: string | undefined): string {
  return resourcePath(resources[resource], { namespace });
}

function pathOf(resource: ResourceName, { namespace, name }: ObjectName, subresource?: string): string {
  if (name === '') throw badRequest(`${resource}: a name is required`);
  return resourcePath(resources[resource], { namespace: namespaceOf(resource, namespace), name, subresource });
}

function namespaceOf(resource: ResourceName, namespace: string | undefined): string | undefined {
  if (!resources[resource].namespaced) return undefined;
  if (namespace === undefined || namespace === '') throw badRequest(`${resource}: a namespace is required`);
  return namespace;
}

function badRequest(message: string): ApiError {
  return new ApiError({ reason: 'bad-request', message });
}

function encode(resource: ResourceName, object: KubeObject): string {
  return JSON.stringify({ apiVersion: groupVersion(resources[resource]), kind: resources[resource].kind, ...object });
}

/** An error of the receiver is not an error of the connection. */
function deliver(item: KubeObject, each: (item: KubeObject) => void): void {
  try {
    each(item);
  } catch (cause) {
    throw new ApiError({ reason: 'internal', message: 'the receiver of a list item failed', cause });
  }
}
