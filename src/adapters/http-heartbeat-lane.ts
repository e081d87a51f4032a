// Lease renewals by the hundred a second, for a process that is thousands of kubelets. The API's own road answers every
// call with streams, signals and repeats; a renewal is one small write after the other over the same few sockets, repeated
// by its own rules, so it goes a shorter one: a request and a callback. Everything else takes the usual road.
import type { Dispatcher } from 'undici';
import { ApiError } from '../api/api-error.ts';
import type { KubeObject } from '../api/meta.ts';
import { groupVersion, type ResourceName, resourcePath, resources } from '../api/resources.ts';
import type { Clock } from '../ports/clock.ts';
import type { KubeReader, ListOptions, ListPage, ObjectName, WatchOptions, WatchStream } from '../ports/kube-reader.ts';
import type { DeleteOptions, KubeWriter, PatchType, WriteOptions } from '../ports/kube-writer.ts';
import type { Logger } from '../ports/logger.ts';
import type { Meter } from '../ports/meter.ts';
import type { Connection, Headers } from './http-connection.ts';
import { errorFromFailure, errorFromResponse } from './http-errors.ts';
import { HttpLivePools } from './http-live-pools.ts';
import { restClientConnections, restClientRequestDuration, restClientRequests } from './http-metrics.ts';

export interface HttpHeartbeatLaneOptions {
  /** The usual road, for all that is no renewal, and for a renewal whose credentials were refused. */
  readonly api: KubeReader & KubeWriter;
  readonly connection: Connection;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly meter: Meter;
  readonly userAgent: string;
  readonly fieldManager: string;
  /** From the request to the end of its answer. */
  readonly requestTimeoutMs: number;
}

/** A lease is a kilobyte. */
const bodyBytesMax = 1024 * 1024;
const lease = resources.leases;
/** The API server writes it before all that others may have put into the metadata. */
const versionKey = '"resourceVersion":"';
const head = JSON.stringify({ apiVersion: groupVersion(lease), kind: lease.kind }).slice(0, -1);

/** What came back, whole. */
interface Answered {
  readonly code: number;
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  readonly body: string;
}

/** An API whose lease renewals cost a fraction. As with the API behind it, every method rejects with an ApiError only. */
export class HttpHeartbeatLane implements KubeReader, KubeWriter {
  readonly #options: HttpHeartbeatLaneOptions;
  readonly #pools: HttpLivePools;
  readonly #origin: string;
  readonly #prefix: string;
  readonly #query: string;
  readonly #host: string;
  #headers: Record<string, string> = {};
  #who: Headers | undefined;

  constructor(options: HttpHeartbeatLaneOptions) {
    const { connection, meter, fieldManager } = options;
    const url = new URL(connection.server);
    const { host } = url;
    this.#options = options;
    this.#origin = url.origin;
    this.#prefix = url.pathname.replace(/\/+$/, '');
    this.#query = `?fieldManager=${encodeURIComponent(fieldManager)}`;
    this.#host = host;
    this.#pools = new HttpLivePools({
      ...options,
      opened: (role) => meter.add(restClientConnections, 1, { role, host }),
    });
  }

  get(
    resource: ResourceName,
    name: ObjectName,
    options: { readonly resourceVersion?: string; readonly signal: AbortSignal },
  ): Promise<KubeObject> {
    return this.#options.api.get(resource, name, options);
  }

  list(resource: ResourceName, options: ListOptions & { readonly signal: AbortSignal }): Promise<ListPage> {
    return this.#options.api.list(resource, options);
  }

  watch(resource: ResourceName, options: WatchOptions & { readonly signal: AbortSignal }): Promise<WatchStream> {
    return this.#options.api.watch(resource, options);
  }

  create(resource: ResourceName, object: KubeObject, options: WriteOptions): Promise<KubeObject> {
    return this.#options.api.create(resource, object, options);
  }

  patch(
    resource: ResourceName,
    name: ObjectName,
    patch: { readonly type: PatchType; readonly body: unknown },
    options: WriteOptions,
  ): Promise<KubeObject> {
    return this.#options.api.patch(resource, name, patch, options);
  }

  delete(resource: ResourceName, name: ObjectName, options: DeleteOptions): Promise<void> {
    return this.#options.api.delete(resource, name, options);
  }

  /**
   * A renewal, one attempt; answers the lease as it was sent, with its new version. What does not look like one goes the
   * usual road.
   */
  async replace(resource: ResourceName, object: KubeObject, options: WriteOptions): Promise<KubeObject> {
    const { name, namespace } = object.metadata;
    const isRenewal = resource === 'leases' && options.subresource === undefined && name !== undefined;
    if (!isRenewal || namespace === undefined) return this.#options.api.replace(resource, object, options);
    const path = `${this.#prefix}${resourcePath(lease, { namespace, name })}${this.#query}`;
    const answer = await this.#renew(path, object, options.signal);
    if (answer.code === 401) return this.#options.api.replace(resource, object, options);
    if (answer.code >= 200 && answer.code < 300) return renewed(object, answer.body);
    throw errorFromResponse({ method: 'PUT', path }, answer, this.#options.clock.nowMs());
  }

  /** Ends what is under way. No socket is left when it resolves. */
  async close(): Promise<void> {
    await this.#pools.destroy();
  }

  async #renew(path: string, object: KubeObject, signal: AbortSignal): Promise<Answered> {
    const { clock, meter, connection, requestTimeoutMs } = this.#options;
    if (signal.aborted) throw new ApiError({ reason: 'aborted', message: `PUT ${path}: given up` });
    await this.#identify(await connection.authorization());
    const pool = this.#pools.current.unary;
    const sinceMs = clock.monotonicMs();
    const request = {
      origin: this.#origin,
      path,
      method: 'PUT' as const,
      headers: this.#headers,
      body: encode(object),
      // The renewal has a deadline of its own, which the wait for a socket counts towards.
      headersTimeout: 0,
      bodyTimeout: 0,
    };
    const outcome = await new Promise<Answered | Failed>((resolve) => {
      pool.dispatch(request, new Renewal(signal, requestTimeoutMs, resolve));
    });
    meter.observe(restClientRequestDuration, (clock.monotonicMs() - sinceMs) / 1_000, {
      verb: 'PUT',
      host: this.#host,
    });
    const code = 'code' in outcome ? outcome.code : 0;
    meter.add(restClientRequests, 1, { code: code === 0 ? '<error>' : String(code), method: 'PUT', host: this.#host });
    if ('code' in outcome) return outcome;
    this.#pools.doubt();
    throw errorFromFailure({ method: 'PUT', path }, this.#failure(outcome, signal));
  }

  #failure({ error }: Failed, { aborted }: AbortSignal): Parameters<typeof errorFromFailure>[1] {
    const unsent = this.#pools.current.isUnsent(error);
    return { error, aborted, overdue: error instanceof OverdueError, unsent };
  }

  /** The headers are put together once for as long as we are the same. */
  async #identify(who: Headers): Promise<void> {
    await this.#pools.refresh();
    if (who === this.#who) return;
    const { userAgent } = this.#options;
    this.#who = who;
    this.#headers = { ...who, accept: 'application/json', 'content-type': 'application/json', 'user-agent': userAgent };
  }
}

interface Failed {
  readonly error: unknown;
}

class OverdueError extends Error {
  override readonly name = 'OverdueError';
}

/** Gathers one answer, and leaves when the signal aborts or the time is up. */
class Renewal implements Dispatcher.DispatchHandler {
  readonly #signal: AbortSignal;
  readonly #resolve: (outcome: Answered | Failed) => void;
  readonly #chunks: Buffer[] = [];
  readonly #timer: NodeJS.Timeout;
  #controller: Dispatcher.DispatchController | undefined;
  #code = 0;
  #bytes = 0;
  #headers: Answered['headers'] = {};
  #over: Error | undefined;

  constructor(signal: AbortSignal, timeoutMs: number, resolve: (outcome: Answered | Failed) => void) {
    this.#signal = signal;
    this.#resolve = resolve;
    this.#timer = setTimeout(this.#expire, timeoutMs);
    signal.addEventListener('abort', this.#leave);
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    if (this.#over !== undefined) controller.abort(this.#over);
  }

  onResponseStart(_controller: Dispatcher.DispatchController, code: number, headers: Answered['headers']): void {
    this.#code = code;
    this.#headers = headers;
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    this.#bytes += chunk.length;
    if (this.#bytes > bodyBytesMax) controller.abort(new Error(`more than ${bodyBytesMax} bytes`));
    else this.#chunks.push(chunk);
  }

  onResponseEnd(): void {
    const body = this.#chunks.length === 1 ? this.#chunks[0] : Buffer.concat(this.#chunks);
    this.#end({ code: this.#code, headers: this.#headers, body: body?.toString('utf8') ?? '' });
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    this.#end({ error });
  }

  #end(outcome: Answered | Failed): void {
    clearTimeout(this.#timer);
    this.#signal.removeEventListener('abort', this.#leave);
    this.#resolve(outcome);
  }

  /** One that still waits for a socket is over at once, and is not sent when it gets one. */
  #giveUp(error: Error): void {
    this.#over = error;
    this.#end({ error });
    this.#controller?.abort(error);
  }

  readonly #leave = (): void => {
    this.#giveUp(new Error('given up'));
  };

  readonly #expire = (): void => {
    this.#giveUp(new OverdueError('no answer in time'));
  };
}

function encode(object: KubeObject): string {
  const { apiVersion: _apiVersion, kind: _kind, ...rest } = object;
  return `${head},${JSON.stringify(rest).slice(1)}`;
}

/**
 * What was sent, with the version that it got: to read the whole answer would cost as much as the rest of the renewal.
 * Where the server put more into it than we did, the next renewal does without that and the server puts it in again.
 */
function renewed(sent: KubeObject, answer: string): KubeObject {
  const start = answer.indexOf(versionKey);
  const end = answer.indexOf('"', start + versionKey.length);
  if (start < 0 || end < 0) {
    throw new ApiError({ reason: 'internal', message: 'the answer to a renewal is no object with a resourceVersion' });
  }
  const resourceVersion = answer.slice(start + versionKey.length, end);
  return { ...sent, metadata: { ...sent.metadata, resourceVersion } };
}
