import type { Dispatcher } from 'undici';
import { ApiError } from '../api/api-error.ts';
import type { Clock } from '../ports/clock.ts';
import type { Logger } from '../ports/logger.ts';
import type { Meter } from '../ports/meter.ts';
import type { Random } from '../ports/random.ts';
import { LinkedAbort, unlessAborted } from './http-abort.ts';
import { type HttpAnswer, readBody } from './http-body.ts';
import type { Connection, Headers } from './http-connection.ts';
import { errorFromFailure, errorFromResponse } from './http-errors.ts';
import { statusOf } from './http-answers.ts';
import { arrivals } from './http-arrivals.ts';
import { HttpLivePools } from './http-live-pools.ts';
import {
  restClientConnections,
  restClientLimiterDuration,
  restClientRequestDuration,
  restClientRequestSize,
  restClientRequests,
  restClientResponseSize,
  restClientRetries,
} from './http-metrics.ts';
import type { Role } from './http-pools.ts';
import { withLastCheck } from './http-last-check.ts';
import type { HttpRateLimit } from './http-rate-limit.ts';
import { retryWaitMs } from './http-retry.ts';
import { HttpWarnings } from './http-warnings.ts';
import type { WatchBody } from './http-watch-stream.ts';
import { jsonType } from './wire-format.ts';

export interface HttpRequest {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** Below the server's own path, query included. */
  readonly path: string;
  readonly signal: AbortSignal;
  readonly body?: string;
  readonly contentType?: string;
  /** JSON when absent. */
  readonly accept?: string;
  /** What came has been passed on already, so the request is not repeated. */
  readonly isSpent?: () => boolean;
}

export interface HttpExchangeOptions {
  readonly connection: Connection;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  readonly meter: Meter;
  readonly userAgent: string;
  readonly limit: HttpRateLimit;
  /** For one attempt at a unary call, and for a watch until its headers are there. */
  readonly requestTimeoutMs: number;
  readonly retriesMax: number;
  /** Silence after which a watch is cut. */
  readonly watchQuietMsMax: number;
  readonly bodyBytesMax: number;
  /** Asked at the last moment before each write leaves, repeats included; false refuses it with `aborted`. */
  readonly mayWrite?: () => boolean;
}

type Response = Dispatcher.ResponseData;

/** A request that waited longer for the client side limit is worth a line, though not each of them. */
const longWaitMs = 1_000;
const longWaitTellMs = 60_000;

interface FailedAttempt {
  readonly error: ApiError;
  /** There was a connection and it broke. */
  readonly lost: boolean;
  /** The credentials were refused, and asking for them again may give others. */
  readonly renewable: boolean;
}

/** It failed before anything left: no connection, no credentials. */
class UnsentError extends Error {
  override readonly name = 'UnsentError';
  constructor(cause: unknown) {
    super('not sent', { cause });
  }
}

/** Requests and answers over HTTP: deadlines, the client side limit, repeats, and every failure as an ApiError. */
export class HttpExchange {
  readonly #options: HttpExchangeOptions;
  readonly #url: URL;
  readonly #pools: HttpLivePools;
  readonly #warnings: HttpWarnings;
  /** Errors after which other credentials may be found. */
  readonly #renewable = new WeakSet<ApiError>();
  #longWaitToldAtMs = -Infinity;
  readonly #closing = new AbortController();

  constructor(options: HttpExchangeOptions) {
    this.#options = options;
    this.#url = new URL(options.connection.server);
    this.#warnings = new HttpWarnings(options.logger);
    const { host } = this.#url;
    const opened = (role: Role): void => options.meter.add(restClientConnections, 1, { role, host });
    this.#pools = new HttpLivePools({ ...options, opened });
  }

  /** What `read` makes of a successful answer. What it throws should be an ApiError, else it counts as a lost connection. */
  async send<T>(request: HttpRequest, read: (answer: HttpAnswer) => Promise<T>): Promise<T> {
    const call = new LinkedAbort([request.signal, this.#closing.signal]);
    try {
      return await this.#sendUntilAnswered(request, read, call.signal);
    } finally {
      call.release();
    }
  }

  /**
   * The body of a watch, once its headers are there. One attempt, and another one where other credentials may be found:
   * whoever watches knows best when to try again.
   */
  async open(request: HttpRequest): Promise<WatchBody> {
    const first = await this.#openOnce(request);
    if (!('error' in first)) return first;
    const second = first.renewable ? await this.#openOnce(request) : first;
    if ('error' in second) throw second.error;
    return second;
  }

  async #openOnce(request: HttpRequest): Promise<WatchBody | FailedAttempt> {
    const link = new LinkedAbort([request.signal, this.#closing.signal], this.#options.requestTimeoutMs);
    try {
      const response = await this.#timed('WATCH', () => this.#request(request, link.signal, 'watches'));
      link.stopTimer();
      return {
        contentType: contentTypeOf(response),
        body: response.body,
        release: () => link.release(),
        aborted: () => link.aborted,
      };
    } catch (error) {
      link.release();
      return this.#failure(request, error, link);
    }
  }

  /** Ends everything under way with `aborted`. No socket and no timer is left when it resolves. */
  async close(): Promise<void> {
    this.#closing.abort();
    await Promise.all([this.#pools.destroy(), this.#options.limit.close()]);
  }

  async #sendUntilAnswered<T>(
    request: HttpRequest,
    read: (answer: HttpAnswer) => Promise<T>,
    signal: AbortSignal,
  ): Promise<T> {
    const { retriesMax, random } = this.#options;
    let renewed = false;
    for (let retries = 0; ; retries += 1) {
      await this.#passLimit(request, signal);
      const answer = await this.#attempt(request, read, signal);
      if ('value' in answer) return answer.value;
      const { error, lost } = answer;
      const { method } = request;
      const renewable: boolean = answer.renewable && !renewed;
      renewed ||= renewable;
      const waitMs = retryWaitMs({ method, error, lost, renewable, retries, retriesMax, random });
      if (waitMs === undefined || request.isSpent?.() === true) throw error;
      this.#noteRetry(request, error, waitMs);
      await this.#options.clock.sleep(waitMs, signal);
    }
  }

  async #passLimit(request: HttpRequest, signal: AbortSignal): Promise<void> {
    const { clock, limit, meter } = this.#options;
    const sinceMs = clock.monotonicMs();
    await limit.pass(signal);
    const nowMs = clock.monotonicMs();
    const host = this.#url.host;
    meter.observe(restClientLimiterDuration, (nowMs - sinceMs) / 1_000, { verb: request.method, host });
    if (nowMs - sinceMs > longWaitMs) this.#tellLongWait(request, nowMs - sinceMs, nowMs);
  }

  #tellLongWait({ method, path }: HttpRequest, waitedMs: number, nowMs: number): void {
    if (nowMs - this.#longWaitToldAtMs < longWaitTellMs) return;
    this.#longWaitToldAtMs = nowMs;
    this.#options.logger.info({ method, path, waitedMs: Math.round(waitedMs) }, 'requests wait for the rate limit');
  }

  #noteRetry({ method, path }: HttpRequest, error: ApiError, waitMs: number): void {
    const { logger, meter } = this.#options;
    meter.add(restClientRetries, 1, { code: codeLabel(error.code), verb: method, host: this.#url.host });
    logger.debug({ method, path, reason: error.reason, code: error.code, waitMs }, 'the request is sent again');
  }

  async #attempt<T>(
    request: HttpRequest,
    read: (answer: HttpAnswer) => Promise<T>,
    signal: AbortSignal,
  ): Promise<{ readonly value: T } | FailedAttempt> {
    const link = new LinkedAbort([signal], this.#options.requestTimeoutMs);
    try {
      return await this.#timed(request.method, async () => {
        const response = await this.#request(request, link.signal, 'unary');
        const body = new CountedBody(response.body);
        const answer = { contentType: contentTypeOf(response), chunks: body };
        const value = await unlessAborted(read(answer), link.signal);
        this.#measure(request, body.bytes);
        return { value };
      });
    } catch (error) {
      return this.#failure(request, error, link);
    } finally {
      link.release();
    }
  }

  /** Headers of a 2xx answer. Throws an ApiError for any other, and what undici throws where there is none. */
  async #request(request: HttpRequest, signal: AbortSignal, role: Role): Promise<Response> {
    const who = await unlessAborted(this.#who(), signal);
    const response = await this.#dispatch(request, who, signal, role);
    // The iterator over the body reports what breaks it; without this a break before the first read would be uncaught.
    response.body.on('error', ignoreReported);
    const { statusCode: code, headers } = response;
    this.#count(codeLabel(code), request);
    this.#warnings.note(headers['warning']);
    if (code >= 200 && code < 300) return response;
    const body = await unlessAborted(readBody(new CountedBody(response.body), this.#options.bodyBytesMax), signal);
    const refusal = { code, headers, body: body.toString('utf8'), status: statusOf(contentTypeOf(response), body) };
    const error = errorFromResponse(request, refusal, this.#options.clock.nowMs());
    if (code === 401) this.#noteRefusal(error, who);
    throw error;
  }

  /** Tokens and certificates may have changed under us: both are looked at again before the next request. */
  #noteRefusal(error: ApiError, who: Headers): void {
    this.#pools.doubt();
    if (this.#options.connection.refused(who)) this.#renewable.add(error);
  }

  async #dispatch(request: HttpRequest, who: Headers, signal: AbortSignal, role: Role): Promise<Response> {
    const { requestTimeoutMs, watchQuietMsMax } = this.#options;
    await unlessAborted(this.#pools.refresh(), signal);
    const pools = this.#pools.current;
    this.#assertMayWrite(request);
    const options: Dispatcher.RequestOptions = {
      origin: this.#url.origin,
      path: this.#pathOf(request),
      method: request.method,
      headers: this.#headers(request, who),
      body: request.body ?? null,
      signal,
      headersTimeout: requestTimeoutMs,
      bodyTimeout: role === 'unary' ? requestTimeoutMs : watchQuietMsMax,
    };
    const dispatcher = this.#guarded(request, pools[role]);
    return unlessAborted(dispatcher.request(options), signal).catch((error: unknown) => {
      throw pools.isUnsent(error) ? new UnsentError(error) : error;
    });
  }

  #guarded(request: HttpRequest, dispatcher: Dispatcher): Dispatcher {
    const { mayWrite } = this.#options;
    if (request.method === 'GET' || mayWrite === undefined) return dispatcher;
    return withLastCheck(dispatcher, () => this.#assertMayWrite(request));
  }

  /** Waiting for the limit, for a repeat or for credentials may have taken longer than the right to write lasts. */
  #assertMayWrite({ method }: HttpRequest): void {
    if (method === 'GET' || this.#options.mayWrite === undefined || this.#options.mayWrite()) return;
    throw new ApiError({ reason: 'aborted', message: `${method} was not sent: the right to write has ended` });
  }

  /** What went wrong with an attempt, in the caller's words. */
  #failure(request: HttpRequest, error: unknown, { aborted, overdue }: LinkedAbort): FailedAttempt {
    if (error instanceof ApiError) return { error, lost: false, renewable: this.#renewable.has(error) };
    const unsent = error instanceof UnsentError;
    const lost = !aborted && !overdue && !unsent;
    // With TLS 1.3 a server refuses our certificate only after the handshake: then it looks like a lost connection.
    if (unsent || lost) this.#pools.doubt();
    if (!aborted) this.#count(codeLabel(0), request);
    const failure = { error: unsent ? error.cause : error, aborted, overdue, unsent };
    return { error: errorFromFailure(request, failure), lost, renewable: false };
  }

  #pathOf({ path }: HttpRequest): string {
    const prefix = this.#url.pathname.replace(/\/+$/, '');
    return `${prefix}${path}`;
  }

  async #who(): Promise<Headers> {
    return this.#options.connection.authorization().catch((error: unknown) => {
      throw new UnsentError(error);
    });
  }

  #headers({ contentType, accept = jsonType }: HttpRequest, who: Headers): Record<string, string> {
    const type = contentType === undefined ? {} : { 'content-type': contentType };
    return { ...who, accept, 'user-agent': this.#options.userAgent, ...type };
  }

  #measure({ method, body = '' }: HttpRequest, answerBytes: number): void {
    const { meter } = this.#options;
    const labels = { verb: method, host: this.#url.host };
    meter.observe(restClientRequestSize, Buffer.byteLength(body), labels);
    meter.observe(restClientResponseSize, answerBytes, labels);
  }

  #count(code: string, { method }: HttpRequest): void {
    this.#options.meter.add(restClientRequests, 1, { code, method, host: this.#url.host });
  }

  async #timed<T>(verb: string, act: () => Promise<T>): Promise<T> {
    const { clock, meter } = this.#options;
    const sinceMs = clock.monotonicMs();
    try {
      return await act();
    } finally {
      const seconds = (clock.monotonicMs() - sinceMs) / 1_000;
      meter.observe(restClientRequestDuration, seconds, { verb, host: this.#url.host });
    }
  }
}

/** The chunks of a body, and how many bytes they were so far. */
class CountedBody implements AsyncIterable<Buffer> {
  readonly #body: Response['body'];
  bytes = 0;

  constructor(body: Response['body']) {
    this.#body = body;
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Buffer> {
    for await (const chunks of arrivals(this.#body)) {
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

/** As client-go counts: a request without an answer has the code `<error>`. */
function codeLabel(code: number): string {
  return code === 0 ? '<error>' : String(code);
}

function ignoreReported(): void {
  // Reported by the body's iterator.
}
