// The API server over HTTP. Reads and writes are one class because they share sockets, limit and credentials; who may
// only read gets it as a KubeReader.
import { ApiError } from '../api/api-error.ts';
import type { KubeObject } from '../api/meta.ts';
import { groupVersion, type ResourceName, resourcePath, resources } from '../api/resources.ts';
import type { Clock } from '../ports/clock.ts';
import type {
  KubeReader,
  ListOptions,
  ListPage,
  ListTaking,
  ObjectName,
  WatchOptions,
  WatchStream,
} from '../ports/kube-reader.ts';
import type { DeleteOptions, KubeWriter, PatchType, WriteOptions } from '../ports/kube-writer.ts';
import type { Logger } from '../ports/logger.ts';
import type { Meter } from '../ports/meter.ts';
import type { Random } from '../ports/random.ts';
import { HttpAnswers } from './http-answers.ts';
import { bodyBytesMaxDefault, readBody } from './http-body.ts';
import type { Connection } from './http-connection.ts';
import { HttpExchange, type HttpRequest } from './http-exchange.ts';
import { formatQuery, listQuery, watchQuery } from './http-query.ts';
import { HttpRateLimit } from './http-rate-limit.ts';
import { retriesMaxDefault } from './http-retry.ts';
import { watchStream } from './http-watch-stream.ts';
import { isProtobufResource } from './protobuf-objects.ts';
import { SystemRandom } from './system-random.ts';
import { acceptHeader, type WireType } from './wire-format.ts';

export const requestTimeoutMsDefault = 30_000;
/** Longer than an informer's own patience, which comes first; this is for those who watch without one. */
export const watchQuietMsMaxDefault = 120_000;

export interface HttpKubeApiOptions {
  readonly connection: Connection;
  readonly clock: Clock;
  /** The machine's own when absent. */
  readonly random?: Random;
  readonly logger: Logger;
  readonly meter: Meter;
  readonly userAgent: string;
  /** Named in every write, so that managed fields tell who wrote what. */
  readonly fieldManager: string;
  /** Unary requests a second in the long run; 0 or less: no limit. Watches are not limited. */
  readonly qps: number;
  readonly burst: number;
  /** For one attempt; the waits between attempts come on top. */
  readonly requestTimeoutMs?: number;
  /** 0: whoever calls owns the repeats, as a lease's renewal does. */
  readonly retriesMax?: number;
  /** Asked right before each write is sent, and before each time it is sent again; false refuses it with `aborted`. */
  readonly mayWrite?: () => boolean;
  readonly watchQuietMsMax?: number;
  readonly bodyBytesMax?: number;
  /**
   * What nodes, pods and leases are asked for in when they are read; everything else is JSON. In protobuf they arrive
   * with the fields that our views have and no others, so who writes back what it read must ask for JSON, the default.
   */
  readonly contentType?: WireType;
}

const patchContentTypes: Readonly<Record<PatchType, string>> = {
  'strategic-merge': 'application/strategic-merge-patch+json',
  merge: 'application/merge-patch+json',
  json: 'application/json-patch+json',
};

/** Every method rejects with an ApiError and with nothing else. Cheap to make: no connection before the first call. */
export class HttpKubeApi implements KubeReader, KubeWriter {
  readonly #exchange: HttpExchange;
  readonly #answers = new HttpAnswers();
  readonly #fieldManager: string;
  readonly #contentType: WireType;
  readonly #bodyBytesMax: number;

  constructor(options: HttpKubeApiOptions) {
    this.#fieldManager = options.fieldManager;
    this.#contentType = options.contentType ?? 'application/json';
    this.#bodyBytesMax = options.bodyBytesMax ?? bodyBytesMaxDefault;
    this.#exchange = new HttpExchange({
      requestTimeoutMs: requestTimeoutMsDefault,
      retriesMax: retriesMaxDefault,
      watchQuietMsMax: watchQuietMsMaxDefault,
      bodyBytesMax: bodyBytesMaxDefault,
      random: new SystemRandom(),
      ...options,
      limit: new HttpRateLimit(options),
    });
  }

  async get(
    resource: ResourceName,
    name: ObjectName,
    { resourceVersion, signal }: { readonly resourceVersion?: string; readonly signal: AbortSignal },
  ): Promise<KubeObject> {
    const path = `${pathOf(resource, name)}${formatQuery({ resourceVersion })}`;
    const request = { method: 'GET', path, signal, accept: this.#accept(resource) } as const;
    return this.#exchange.send(request, (answer) => this.#answers.readObject(resource, answer, this.#bodyBytesMax));
  }

  async list(
    resource: ResourceName,
    options: ListOptions & ListTaking & { readonly signal: AbortSignal },
  ): Promise<ListPage> {
    const path = `${collectionPath(resource, options.namespace)}${listQuery(options)}`;
    const { signal, each } = options;
    const accept = this.#accept(resource);
    if (each === undefined) return this.#gather(resource, { method: 'GET', path, signal, accept });
    let isSpent = false;
    const take = (item: KubeObject): void => {
      isSpent = true;
      handOver(item, each);
    };
    const request = { method: 'GET', path, signal, accept, isSpent: () => isSpent } as const;
    const reading = { bytesMax: Number.POSITIVE_INFINITY, take };
    const metadata = await this.#exchange.send(request, (answer) => this.#answers.readList(resource, answer, reading));
    return { metadata, items: [] };
  }

  async watch(resource: ResourceName, options: WatchOptions & { readonly signal: AbortSignal }): Promise<WatchStream> {
    const path = `${collectionPath(resource, options.namespace)}${watchQuery(options)}`;
    const accept = this.#accept(resource, ';stream=watch');
    const body = await this.#exchange.open({ method: 'GET', path, signal: options.signal, accept });
    return watchStream(body, this.#answers.watchDecoder(resource, body.contentType));
  }

  async create(resource: ResourceName, object: KubeObject, options: WriteOptions): Promise<KubeObject> {
    const { namespace, name } = object.metadata;
    const path =
      options.subresource === undefined
        ? collectionPath(resource, namespaceOf(resource, namespace))
        : resourcePath(resources[resource], { namespace, name, subresource: options.subresource });
    return this.#write({ method: 'POST', path, signal: options.signal, body: encode(resource, object) });
  }

  async replace(resource: ResourceName, object: KubeObject, options: WriteOptions): Promise<KubeObject> {
    const { namespace, name } = object.metadata;
    if (name === undefined) throw badRequest(`a ${resource} object without a name cannot be replaced`);
    const path = pathOf(resource, { name, ...(namespace === undefined ? {} : { namespace }) }, options.subresource);
    return this.#write({ method: 'PUT', path, signal: options.signal, body: encode(resource, object) });
  }

  async patch(
    resource: ResourceName,
    name: ObjectName,
    patch: { readonly type: PatchType; readonly body: unknown },
    options: WriteOptions,
  ): Promise<KubeObject> {
    const path = pathOf(resource, name, options.subresource);
    const contentType = patchContentTypes[patch.type];
    return this.#write({
      method: 'PATCH',
      path,
      signal: options.signal,
      body: JSON.stringify(patch.body),
      contentType,
    });
  }

  /** All options go in the body: with a body there the API server ignores the query (apiserver `DeleteResource`). */
  async delete(resource: ResourceName, name: ObjectName, options: DeleteOptions): Promise<void> {
    const { signal, uid, resourceVersion, gracePeriodSeconds } = options;
    const body = JSON.stringify({
      kind: 'DeleteOptions',
      apiVersion: 'v1',
      preconditions: { uid, resourceVersion },
      gracePeriodSeconds,
    });
    const path = pathOf(resource, name);
    const request = { method: 'DELETE', path, signal, body, contentType: 'application/json' } as const;
    await this.#exchange.send(request, ({ chunks }) => readBody(chunks, this.#bodyBytesMax));
  }

  /** POSTs a question that is not stored, as a TokenReview is, and resolves with it and its answer. Asked once. */
  async review(path: string, question: object, { signal }: { readonly signal: AbortSignal }): Promise<KubeObject> {
    return this.#write({ method: 'POST', path, signal, body: JSON.stringify(question) });
  }

  /** Ends every call and watch with `aborted`; leaves no socket and no timer. */
  async close(): Promise<void> {
    await this.#exchange.close();
  }

  #accept(resource: ResourceName, parameters = ''): string {
    return acceptHeader(isProtobufResource(resource) ? this.#contentType : 'application/json', parameters);
  }

  async #gather(resource: ResourceName, request: HttpRequest): Promise<ListPage> {
    const bytesMax = this.#bodyBytesMax;
    return this.#exchange.send(request, async (answer) => {
      const items: KubeObject[] = [];
      const take = (item: KubeObject): unknown => items.push(item);
      const metadata = await this.#answers.readList(resource, answer, { bytesMax, take });
      return { metadata, items };
    });
  }

  async #write(request: HttpRequest): Promise<KubeObject> {
    const path = `${request.path}${formatQuery({ fieldManager: this.#fieldManager })}`;
    const write = { contentType: 'application/json', ...request, path };
    return this.#exchange.send(write, (answer) => this.#answers.readWritten(answer, this.#bodyBytesMax));
  }
}

function collectionPath(resource: ResourceName, namespace: string | undefined): string {
  return resourcePath(resources[resource], { namespace });
}

function pathOf(resource: ResourceName, { namespace, name }: ObjectName, subresource?: string): string {
  if (name === '') throw badRequest(`a ${resource} object without a name`);
  return resourcePath(resources[resource], { namespace: namespaceOf(resource, namespace), name, subresource });
}

function namespaceOf(resource: ResourceName, namespace: string | undefined): string | undefined {
  if (!resources[resource].namespaced) return undefined;
  if (namespace === undefined || namespace === '')
    throw badRequest(`${resource} live in a namespace and none was named`);
  return namespace;
}

function badRequest(message: string): ApiError {
  return new ApiError({ reason: 'bad-request', message });
}

function encode(resource: ResourceName, object: KubeObject): string {
  return JSON.stringify({ apiVersion: groupVersion(resources[resource]), kind: resources[resource].kind, ...object });
}

/** What the taker throws is no fault of the connection. */
function handOver(item: KubeObject, each: (item: KubeObject) => void): void {
  try {
    each(item);
  } catch (cause) {
    throw new ApiError({ reason: 'internal', message: 'an item of the list could not be taken', cause });
  }
}
