import type { Dispatcher } from 'undici';
import { ApiError } from '../api/api-error.ts';
import { withoutTrailing } from '../api/without-trailing.ts';
import type { Ambient } from '../ports/ambient.ts';
import type { Random } from '../ports/random.ts';
import type { WriteLane } from '../ports/write-lanes.ts';
import { LinkedAbort, unlessAborted } from '../supervision/abort.ts';
import { TimedAbort } from './timed-abort.ts';
import { type HttpResponse, readBody } from './body.ts';
import type { Connection, Headers } from './connection.ts';
import { errorFromFailure, errorFromResponse } from './errors.ts';
import { statusOf } from './response-decoder.ts';
import { ReloadingPools } from './reloading-pools.ts';
import {
  restClientConnections,
  restClientLimiterDuration,
  restClientRequestDuration,
  restClientRequestSize,
  restClientRequests,
  restClientResponseSize,
  restClientRetries,
} from './metrics.ts';
import { type HttpPools, type Role, withLastCheck } from './pools.ts';
import type { Receiver } from './read-pace.ts';
import type { RequestRateLimit } from '../supervision/request-rate-limit.ts';
import { readWaitMsMax, retryWaitMs } from '../supervision/request-retry.ts';
import { HttpWarnings } from './warnings.ts';
import { chunkBatches, type WatchBody } from './watch-stream.ts';
import { jsonType } from '../wire/wire-format.ts';

export interface HttpRequest {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** Relative to the server's base path, query included. */
  readonly path: string;
  readonly signal: AbortSignal;
  readonly body?: string;
  readonly contentType?: string;
  /** Defaults to JSON. */
  readonly accept?: string;
  /** True once a part of the response has been passed on, so that the request must not be repeated. */
  readonly isSpent?: () => boolean;
  /** Called with `mayWrite`; false fails the request with `aborted`. */
  readonly stillWanted?: (() => boolean) | undefined;
  /** The share of the request rate that it uses; defaults to that of reads. */
  readonly lane?: WriteLane | undefined;
  /** The timeout of one attempt counts from the last bytes received, up to `streamMsMax` in all. */
  readonly isStreamed?: boolean;
  /** Total time that a read may wait for its retries; defaults to {@link readWaitMsMax}. Writes are not retried. */
  readonly waitMsMax?: number;
}

interface HttpTransportOptions extends Ambient {
  readonly connection: Connection;
  readonly random: Random;
  readonly userAgent: string;
  readonly limit: RequestRateLimit;
  readonly unaryConnectionsMax?: number | undefined;
  /** Timeout of one attempt at a unary call, and of a watch until its response headers. */
  readonly requestTimeoutMs: number;
  /**
   * Timeout of one attempt at a write, if shorter: the controller evaluates again and repeats the write on a new
   * connection, so a connection that died silently costs no more than this.
   */
  readonly writeTimeoutMs: number;
  /** Maximum duration of one attempt at a streamed list, which may exceed the timeout while bytes arrive. */
  readonly streamMsMax: number;
  /** Retries of one read. Writes are never retried. */
  readonly retriesMax: number;
  /** A watch without data for this long is closed. */
  readonly watchQuietMsMax: number;
  readonly bodyBytesMax: number;
  /** Called immediately before each write is sent; false fails it with `aborted`. */
  readonly mayWrite?: () => boolean;
  /** What acts on the events of watches; absent: nothing. */
  readonly receiver?: Receiver;
}

type Response = Dispatcher.ResponseData;

/** Waits for the client-side rate limit that are longer than this are logged, at a limited rate. */
const longWaitMs = 1_000;
const longWaitLogIntervalMs = 60_000;

/** For undici: no timeout. */
const noTimeout = 0;

/** An aborted request counts as unanswered after this time, if no other request was answered meanwhile. */
const unansweredAfterMs = 500;

/** One attempt at a request. */
interface TransportAttempt {
  readonly request: HttpRequest;
  readonly link: TimedAbort;
  readonly role: Role;
  /** The pools that it was sent on, and when; absent before it is sent. */
  sent?: { readonly pools: HttpPools; readonly atMs: number };
}

interface FailedAttempt {
  readonly error: ApiError;
  /** An established connection broke. */
  readonly lost: boolean;
  /** The credentials were rejected, and calling for them again may return others. */
  readonly renewable: boolean;
}

/** Failed before anything was sent: no connection, no credentials. */
class UnsentError extends Error {
  override readonly name = 'UnsentError';
  constructor(cause: unknown) {
    super('not sent', { cause });
  }
}

/** HTTP requests and responses: timeouts, client-side rate limit, retries, and every failure as an ApiError. */
export class HttpTransport {
  readonly #options: HttpTransportOptions;
  readonly #url: URL;
  readonly #pools: ReloadingPools;
  readonly #warnings: HttpWarnings;
  /** Errors after which other credentials may be available. */
  readonly #renewable = new WeakSet<ApiError>();
  #longWaitLoggedAtMs = -Infinity;
  readonly #closing = new AbortController();

  constructor(options: HttpTransportOptions) {
    this.#options = options;
    this.#url = new URL(options.connection.server);
    this.#warnings = new HttpWarnings(options.logger);
    const { host } = this.#url;
    const opened = (role: Role): void => options.meter.add(restClientConnections, 1, { role, host });
    this.#pools = new ReloadingPools({ ...options, opened });
  }

  /** Decodes a successful response with `read`. An error from `read` that is not an ApiError counts as a lost connection. */
  async send<T>(request: HttpRequest, read: (result: HttpResponse) => Promise<T>): Promise<T> {
    const call = new LinkedAbort(request.signal, this.#closing.signal);
    try {
      return await this.#sendUntilAnswered(request, read, call.signal);
    } finally {
      call.release();
    }
  }

  /**
   * The body of a watch, after its response headers. One attempt, and a second one if other credentials may be available:
   * the caller decides when to retry.
   */
  async open(request: HttpRequest): Promise<WatchBody> {
    const first = await this.#openOnce(request);
    if (!('error' in first)) return first;
    const second = first.renewable ? await this.#openOnce(request) : first;
    if ('error' in second) throw second.error;
    return second;
  }

  async #openOnce(request: HttpRequest): Promise<WatchBody | FailedAttempt> {
    const link = new TimedAbort([request.signal, this.#closing.signal], this.#options.requestTimeoutMs);
    const attempt: TransportAttempt = { request, link, role: 'watches' };
    try {
      const response = await this.#timed('WATCH', () => this.#request(attempt));
      link.restart(this.#options.watchQuietMsMax);
      return {
        contentType: contentTypeOf(response),
        body: response.body,
        progress: () => link.extend(),
        release: () => link.release(),
        aborted: () => link.aborted,
      };
    } catch (error) {
      link.release();
      return this.#failure(attempt, error);
    }
  }

  /** Fails all requests in flight with `aborted`. Resolves after all sockets and timers are closed. */
  async close(): Promise<void> {
    this.#closing.abort();
    this.#options.limit.close();
    await Promise.all([this.#pools.destroy(), this.#warnings.close()]);
  }

  async #sendUntilAnswered<T>(
    request: HttpRequest,
    read: (result: HttpResponse) => Promise<T>,
    signal: AbortSignal,
  ): Promise<T> {
    const { retriesMax, random } = this.#options;
    let waitMsLeft = request.waitMsMax ?? readWaitMsMax;
    let renewed = false;
    for (let retries = 0; ; retries += 1) {
      await this.#waitForRateLimit(request, signal);
      const result = await this.#attempt(request, read, signal);
      if ('value' in result) return result.value;
      const { error, lost } = result;
      const { method } = request;
      const renewable: boolean = result.renewable && !renewed;
      renewed ||= renewable;
      const waitMs = retryWaitMs({ method, error, lost, renewable, retries, retriesMax, waitMsLeft, random });
      if (waitMs === undefined || request.isSpent?.() === true) throw error;
      waitMsLeft -= waitMs;
      this.#noteRetry(request, error, waitMs);
      await this.#options.clock.sleep(waitMs, signal);
    }
  }

  async #waitForRateLimit(request: HttpRequest, signal: AbortSignal): Promise<void> {
    const { clock, limit, meter } = this.#options;
    const sinceMs = clock.monotonicMs();
    await limit.pass(signal, request.lane);
    const nowMs = clock.monotonicMs();
    const host = this.#url.host;
    meter.observe(restClientLimiterDuration, (nowMs - sinceMs) / 1_000, { verb: request.method, host });
    if (nowMs - sinceMs > longWaitMs) this.#logLongWait(request, nowMs - sinceMs, nowMs);
  }

  #logLongWait({ method, path }: HttpRequest, waitedMs: number, nowMs: number): void {
    if (nowMs - this.#longWaitLoggedAtMs < longWaitLogIntervalMs) return;
    this.#longWaitLoggedAtMs = nowMs;
    this.#options.logger.info(
      { method, path, waitedMs: Math.round(waitedMs) },
      'request delayed by client-side rate limiting',
    );
  }

  #noteRetry({ method, path }: HttpRequest, error: ApiError, waitMs: number): void {
    const { logger, meter } = this.#options;
    meter.add(restClientRetries, 1, { code: codeLabel(error.code), verb: method, host: this.#url.host });
    logger.debug({ method, path, reason: error.reason, code: error.code, waitMs }, 'retrying request');
  }

  async #attempt<T>(
    request: HttpRequest,
    read: (result: HttpResponse) => Promise<T>,
    signal: AbortSignal,
  ): Promise<{ readonly value: T } | FailedAttempt> {
    const link = new TimedAbort([signal], this.#timeoutMs(request));
    const attempt: TransportAttempt = { request, link, role: 'unary' };
    try {
      return await this.#timed(request.method, async () => {
        const response = await this.#request(attempt);
        const body = new CountedBody(response.body, () => this.#noteProgress(attempt));
        const result = { contentType: contentTypeOf(response), chunks: body };
        const value = await unlessAborted(read(result), link.signal);
        this.#measure(request, body.bytes);
        return { value };
      });
    } catch (error) {
      return this.#failure(attempt, error);
    } finally {
      link.release();
    }
  }

  #noteProgress({ request, link }: TransportAttempt): void {
    if (request.isStreamed === true) link.extend(this.#options.streamMsMax);
  }

  /** The response headers of a 2xx response. Throws an ApiError for any other status, and undici's error without a response. */
  async #request(attempt: TransportAttempt): Promise<Response> {
    const { request, link, role } = attempt;
    const { signal } = link;
    const authorization = await unlessAborted(this.#authorization(), signal);
    const response = await this.#dispatch(attempt, authorization);
    if (role === 'unary') attempt.sent?.pools.noteResponse(this.#options.clock.monotonicMs());
    // The iterator over the body reports its errors; without this an error before the first read would be uncaught.
    response.body.on('error', ignoreError);
    const { statusCode: code, headers } = response;
    this.#count(codeLabel(code), request);
    this.#warnings.note(headers['warning']);
    if (code >= 200 && code < 300) return response;
    const body = await unlessAborted(
      readBody(new CountedBody(response.body, () => undefined), this.#options.bodyBytesMax),
      signal,
    );
    const errorResponse = {
      code,
      headers,
      body: body.toString('utf8'),
      status: statusOf(contentTypeOf(response), body),
    };
    const error = errorFromResponse(request, errorResponse, this.#options.clock.nowMs());
    if (code === 401) this.#noteErrorResponse(error, authorization);
    throw error;
  }

  /** Tokens and certificates may have been rotated: both are reloaded before the next request. */
  #noteErrorResponse(error: ApiError, authorization: Headers): void {
    this.#pools.requestReload();
    if (this.#options.connection.refused(authorization)) this.#renewable.add(error);
  }

  async #dispatch(attempt: TransportAttempt, authorization: Headers): Promise<Response> {
    const { request, role } = attempt;
    const { signal } = attempt.link;
    const { clock } = this.#options;
    const timeoutMs = this.#timeoutMs(request);
    await unlessAborted(this.#pools.refresh(), signal);
    const pools = this.#pools.current;
    this.#assertMayWrite(request);
    const options: Dispatcher.RequestOptions = {
      origin: this.#url.origin,
      path: this.#pathOf(request),
      method: request.method,
      headers: this.#headers(request, authorization),
      body: request.body ?? null,
      signal,
      headersTimeout: timeoutMs,
      // undici wakes the process twice a second while a body has a timeout; a watch has the timer of its link.
      bodyTimeout: role === 'unary' ? timeoutMs : noTimeout,
    };
    const dispatcher = this.#guarded(request, pools[role]);
    attempt.sent = { pools, atMs: clock.monotonicMs() };
    return unlessAborted(dispatcher.request(options), signal).catch((error: unknown) => {
      throw pools.isUnsent(error) ? new UnsentError(error) : error;
    });
  }

  #timeoutMs({ method }: HttpRequest): number {
    const { requestTimeoutMs, writeTimeoutMs } = this.#options;
    return method === 'GET' ? requestTimeoutMs : Math.min(requestTimeoutMs, writeTimeoutMs);
  }

  #guarded(request: HttpRequest, dispatcher: Dispatcher): Dispatcher {
    if (request.method === 'GET') return dispatcher;
    return withLastCheck(dispatcher, () => this.#assertMayWrite(request));
  }

  /** The wait for the rate limit, a retry or credentials may have outlasted the right to write. */
  #assertMayWrite({ method, stillWanted }: HttpRequest): void {
    if (method === 'GET') return;
    if (this.#options.mayWrite?.() === false) throw notSent(method, 'this process may no longer write');
    if (stillWanted?.() === false) throw notSent(method, 'the write is no longer needed');
  }

  /** Converts the error of an attempt. */
  #failure(attempt: TransportAttempt, error: unknown): FailedAttempt {
    if (error instanceof ApiError) return { error, lost: false, renewable: this.#renewable.has(error) };
    const { aborted, overdue } = attempt.link;
    const unsent = error instanceof UnsentError;
    const lost = !aborted && !overdue && !unsent;
    // With TLS 1.3 a server rejects the client certificate only after the handshake: it looks like a lost connection.
    if (unsent || lost) this.#pools.requestReload();
    if (!unsent) this.#renewUnansweredPools(attempt);
    if (!aborted) this.#count(codeLabel(0), attempt.request);
    const failure = { error: unsent ? error.cause : error, aborted, overdue, unsent };
    return { error: errorFromFailure(attempt.request, failure), lost, renewable: false };
  }

  /**
   * After a request that timed out all idle connections are suspect; after one that was reset or aborted only if no other
   * was answered since it was sent.
   */
  #renewUnansweredPools({ sent, link }: TransportAttempt): void {
    if (sent === undefined) return;
    const { pools, atMs } = sent;
    if (link.aborted && this.#options.clock.monotonicMs() - atMs < unansweredAfterMs) return;
    if (link.overdue || !pools.hasResponseSince(atMs)) this.#pools.renew(pools);
  }

  #pathOf({ path }: HttpRequest): string {
    const prefix = withoutTrailing(this.#url.pathname, '/');
    return `${prefix}${path}`;
  }

  async #authorization(): Promise<Headers> {
    return this.#options.connection.authorization().catch((error: unknown) => {
      throw new UnsentError(error);
    });
  }

  #headers({ contentType, accept = jsonType }: HttpRequest, authorization: Headers): Record<string, string> {
    const type = contentType === undefined ? {} : { 'content-type': contentType };
    return { ...authorization, accept, 'user-agent': this.#options.userAgent, ...type };
  }

  #measure({ method, body = '' }: HttpRequest, responseBytes: number): void {
    const { meter } = this.#options;
    const labels = { verb: method, host: this.#url.host };
    meter.observe(restClientRequestSize, Buffer.byteLength(body), labels);
    meter.observe(restClientResponseSize, responseBytes, labels);
  }

  #count(code: string, { method }: HttpRequest): void {
    this.#options.meter.add(restClientRequests, 1, { code, method, host: this.#url.host });
  }

  async #timed<T>(verb: string, send: () => Promise<T>): Promise<T> {
    const { clock, meter } = this.#options;
    const sinceMs = clock.monotonicMs();
    try {
      return await send();
    } finally {
      const seconds = (clock.monotonicMs() - sinceMs) / 1_000;
      meter.observe(restClientRequestDuration, seconds, { verb, host: this.#url.host });
    }
  }
}

function notSent(method: string, why: string): ApiError {
  return new ApiError({ reason: 'aborted', message: `${method} was not sent: ${why}` });
}

/** The chunks of a body, and the number of bytes so far. */
class CountedBody implements AsyncIterable<Buffer> {
  readonly #body: Response['body'];
  readonly #progress: () => void;
  bytes = 0;

  /** `progress` is called with each batch of chunks. */
  constructor(body: Response['body'], progress: () => void) {
    this.#body = body;
    this.#progress = progress;
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Buffer> {
    for await (const chunks of chunkBatches(this.#body)) {
      this.#progress();
      for (const chunk of chunks) {
        this.bytes += chunk.length;
        yield chunk;
      }
    }
  }
}

function contentTypeOf({ headers }: Response): string | undefined {
  const value = headers['content-type'];
  return typeof value === 'object' ? value[0] : value;
}

/** Label of a response code, as in client-go: a request without a response has the code `<error>`. */
function codeLabel(code: number): string {
  return code === 0 ? '<error>' : String(code);
}

function ignoreError(): void {
  // Reported by the body's iterator.
}
