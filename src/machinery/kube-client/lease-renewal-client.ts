// Lease renewals at hundreds per second, for a process that simulates thousands of kubelets. The regular client handles
// every call with streams, signals and retries; a renewal is a small write on a few sockets with its own retry rules, so
// it uses a shorter path: a request and a callback. All other calls use the regular client.
import type { Dispatcher } from 'undici';
import { ApiError } from '../api/api-error.ts';
import type { KubeObject } from '../api/meta.ts';
import { groupVersion, type ResourceName, resourcePath, resources } from '../api/resources.ts';
import { withoutTrailing } from '../api/without-trailing.ts';
import type { WriteOptions } from '../ports/kube-writer.ts';
import type { Headers } from './connection.ts';
import { unlessAborted } from '../supervision/abort.ts';
import { TimedAbort } from './timed-abort.ts';
import { errorFromFailure, errorFromResponse } from './errors.ts';
import { HttpKubeApi, type HttpKubeApiOptions } from './kube-api.ts';
import { ReloadingPools } from './reloading-pools.ts';
import type { HttpPools } from './pools.ts';
import { restClientConnections, restClientRequestDuration, restClientRequests } from './metrics.ts';

export interface LeaseRenewalClientOptions extends Omit<HttpKubeApiOptions, 'qps' | 'burst' | 'retriesMax'> {
  /** From the request to the end of the response. */
  readonly requestTimeoutMs: number;
}

/** A lease is about a kilobyte. */
const bodyBytesMax = 1024 * 1024;
const lease = resources.leases;
/** The API server writes this key before all user-controlled metadata. */
const versionKey = '"resourceVersion":"';
const head = JSON.stringify({ apiVersion: groupVersion(lease), kind: lease.kind }).slice(0, -1);

/** A complete response. */
interface RenewalResponse {
  readonly code: number;
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  readonly body: string;
}

/** An API client with cheap lease renewals, without a rate limit and without retries. */
export class LeaseRenewalClient extends HttpKubeApi {
  readonly #options: LeaseRenewalClientOptions;
  readonly #pools: ReloadingPools;
  readonly #origin: string;
  readonly #prefix: string;
  readonly #query: string;
  readonly #host: string;
  #headers: Record<string, string> = {};
  #authHeaders: Headers | undefined;

  constructor(options: LeaseRenewalClientOptions) {
    super({ ...options, qps: 0, burst: 0, retriesMax: 0 });
    const { connection, meter, fieldManager } = options;
    const url = new URL(connection.server);
    const { host } = url;
    this.#options = options;
    this.#origin = url.origin;
    this.#prefix = withoutTrailing(url.pathname, '/');
    this.#query = `?fieldManager=${encodeURIComponent(fieldManager)}`;
    this.#host = host;
    this.#pools = new ReloadingPools({
      ...options,
      opened: (role) => meter.add(restClientConnections, 1, { role, host }),
    });
  }

  /**
   * Renews a lease, one attempt; resolves with the lease as sent and its new resourceVersion. After a 401 the next renewal
   * reloads the credentials. Other requests are sent as by the regular client.
   */
  override async replace(resource: ResourceName, object: KubeObject, options: WriteOptions): Promise<KubeObject> {
    const { name, namespace } = object.metadata;
    const isRenewal = resource === 'leases' && options.subresource === undefined && name !== undefined;
    if (!isRenewal || namespace === undefined) return super.replace(resource, object, options);
    const path = `${this.#prefix}${resourcePath(lease, { namespace, name })}${this.#query}`;
    const response = await this.#renew(path, object, options.signal);
    if (response.code >= 200 && response.code < 300) return renewed(object, response.body);
    throw errorFromResponse({ method: 'PUT', path }, response, this.#options.clock.nowMs());
  }

  /** Fails requests in flight. Resolves after all sockets are closed. */
  override async close(): Promise<void> {
    await Promise.all([this.#pools.destroy(), super.close()]);
  }

  async #renew(path: string, object: KubeObject, signal: AbortSignal): Promise<RenewalResponse> {
    const { clock, requestTimeoutMs } = this.#options;
    await this.#loadCredentials(path, signal);
    const authHeaders = this.#authHeaders ?? {};
    const pools = this.#pools.current;
    const sinceMs = clock.monotonicMs();
    const request = {
      origin: this.#origin,
      path,
      method: 'PUT' as const,
      headers: this.#headers,
      body: encode(object),
      // The renewal has its own deadline, which includes the wait for a socket.
      headersTimeout: 0,
      bodyTimeout: 0,
    };
    const outcome = await dispatchRenewal(pools, request, new Renewal(signal, requestTimeoutMs));
    this.#measure(outcome, clock.monotonicMs() - sinceMs);
    if ('code' in outcome) {
      pools.noteResponse(clock.monotonicMs());
      if (outcome.code === 401) this.#noteUnauthorized(authHeaders);
      return outcome;
    }
    this.#noteFailure(outcome, { pools, sinceMs });
    throw errorFromFailure({ method: 'PUT', path }, failureOf(outcome, pools, signal));
  }

  #measure(outcome: RenewalResponse | RenewalFailure, tookMs: number): void {
    const { meter } = this.#options;
    const code = 'code' in outcome ? String(outcome.code) : '<error>';
    meter.observe(restClientRequestDuration, tookMs / 1_000, { verb: 'PUT', host: this.#host });
    meter.add(restClientRequests, 1, { code, method: 'PUT', host: this.#host });
  }

  /** Credentials have the same time limit as the response: a credential plugin may hang. */
  async #loadCredentials(path: string, signal: AbortSignal): Promise<void> {
    const link = new TimedAbort([signal], this.#options.requestTimeoutMs);
    try {
      const authHeaders = await unlessAborted(this.#options.connection.authorization(), link.signal);
      await unlessAborted(this.#setHeaders(authHeaders), link.signal);
    } catch (error) {
      const { aborted, overdue } = link;
      throw errorFromFailure({ method: 'PUT', path }, { error, aborted, overdue, unsent: true });
    } finally {
      link.release();
    }
  }

  #noteUnauthorized(authHeaders: Headers): void {
    this.#pools.requestReload();
    this.#options.connection.refused(authHeaders);
  }

  /** Idle connections may be dead like this one, and certificates may have been rotated. */
  #noteFailure(
    { error }: RenewalFailure,
    { pools, sinceMs }: { readonly pools: HttpPools; readonly sinceMs: number },
  ): void {
    this.#pools.requestReload();
    if (pools.isUnsent(error) || error instanceof AbortedError) return;
    if (error instanceof OverdueError || !pools.hasResponseSince(sinceMs)) this.#pools.renew(pools);
  }

  /** The request headers are built once per set of credentials. */
  async #setHeaders(authHeaders: Headers): Promise<void> {
    await this.#pools.refresh();
    if (authHeaders === this.#authHeaders) return;
    const { userAgent } = this.#options;
    this.#authHeaders = authHeaders;
    this.#headers = {
      ...authHeaders,
      accept: 'application/json',
      'content-type': 'application/json',
      'user-agent': userAgent,
    };
  }
}

interface RenewalFailure {
  readonly error: unknown;
}

class OverdueError extends Error {
  override readonly name = 'OverdueError';
}

class AbortedError extends Error {
  override readonly name = 'GivenUpError';
}

/** Never rejects: a request that the pool does not accept is a failure like any other. */
function dispatchRenewal(
  { unary }: HttpPools,
  request: Dispatcher.DispatchOptions,
  renewal: Renewal,
): Promise<RenewalResponse | RenewalFailure> {
  try {
    unary.dispatch(request, renewal);
  } catch (error) {
    renewal.fail(error);
  }
  return renewal.outcome;
}

function failureOf(
  { error }: RenewalFailure,
  pools: HttpPools,
  { aborted }: AbortSignal,
): Parameters<typeof errorFromFailure>[1] {
  return { error, aborted, overdue: error instanceof OverdueError, unsent: pools.isUnsent(error) };
}

/** Collects one response; ends when the signal aborts or at the timeout. */
class Renewal implements Dispatcher.DispatchHandler {
  readonly outcome: Promise<RenewalResponse | RenewalFailure>;
  readonly #signal: AbortSignal;
  readonly #resolve: (outcome: RenewalResponse | RenewalFailure) => void;
  readonly #chunks: Buffer[] = [];
  readonly #timer: NodeJS.Timeout;
  #controller: Dispatcher.DispatchController | undefined;
  #code = 0;
  #bytes = 0;
  #headers: RenewalResponse['headers'] = {};
  #cancelError: Error | undefined;

  constructor(signal: AbortSignal, timeoutMs: number) {
    const { promise, resolve } = Promise.withResolvers<RenewalResponse | RenewalFailure>();
    this.outcome = promise;
    this.#signal = signal;
    this.#resolve = resolve;
    this.#timer = setTimeout(this.#expire, timeoutMs);
    signal.addEventListener('abort', this.#onAbort);
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    if (this.#cancelError !== undefined) controller.abort(this.#cancelError);
  }

  onResponseStart(_controller: Dispatcher.DispatchController, code: number, headers: RenewalResponse['headers']): void {
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

  fail(error: unknown): void {
    this.#end({ error });
  }

  #end(outcome: RenewalResponse | RenewalFailure): void {
    clearTimeout(this.#timer);
    this.#signal.removeEventListener('abort', this.#onAbort);
    this.#resolve(outcome);
  }

  /** A request that still waits for a socket ends at once, and is not sent when it gets one. */
  #cancel(error: Error): void {
    this.#cancelError = error;
    this.#end({ error });
    this.#controller?.abort(error);
  }

  readonly #onAbort = (): void => {
    this.#cancel(new AbortedError('aborted'));
  };

  readonly #expire = (): void => {
    this.#cancel(new OverdueError('no response before the timeout'));
  };
}

function encode(object: KubeObject): string {
  const { apiVersion: _apiVersion, kind: _kind, ...rest } = object;
  return `${head},${JSON.stringify(rest).slice(1)}`;
}

/**
 * The lease as sent, with its new resourceVersion: decoding the whole response would cost as much as the rest of the
 * renewal. A field that the server added is missing in the next renewal, and the server adds it again.
 */
function renewed(sent: KubeObject, response: string): KubeObject {
  const start = response.indexOf(versionKey);
  const end = response.indexOf('"', start + versionKey.length);
  if (start < 0 || end < 0) {
    throw new ApiError({ reason: 'internal', message: 'the response to a lease renewal has no resourceVersion' });
  }
  const resourceVersion = response.slice(start + versionKey.length, end);
  return { ...sent, metadata: { ...sent.metadata, resourceVersion } };
}
