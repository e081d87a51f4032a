import type { Dispatcher } from 'undici';
import { ApiError } from '../api/api-error.ts';
import type { Clock } from '../ports/clock.ts';
import type { Logger } from '../ports/logger.ts';
import type { Meter } from '../ports/meter.ts';
import { LinkedAbort, unlessAborted } from './http-abort.ts';
import { readBody } from './http-body.ts';
import type { Connection } from './http-connection.ts';
import { errorFromFailure, errorFromResponse } from './http-errors.ts';
import { HttpLivePools } from './http-live-pools.ts';
import {
  restClientLimiterDuration,
  restClientRequestDuration,
  restClientRequests,
  restClientRetries,
} from './http-metrics.ts';
import type { HttpRateLimit } from './http-rate-limit.ts';
import { retryWaitMs } from './http-retry.ts';
import type { WatchBody } from './http-watch-stream.ts';

export interface HttpRequest {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** Below the server's own path, query included. */
  readonly path: string;
  readonly signal: AbortSignal;
  readonly body?: string;
  readonly contentType?: string;
}

export interface HttpExchangeOptions {
  readonly connection: Connection;
  readonly clock: Clock;
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
type Role = 'unary' | 'watches';

interface FailedAttempt {
  readonly error: ApiError;
  /** There was a connection and it broke. */
  readonly lost: boolean;
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
  readonly #closing = new AbortController();

  constructor(options: HttpExchangeOptions) {
    this.#options = options;
    this.#url = new URL(options.connection.server);
    this.#pools = new HttpLivePools(options);
  }

  /** The body of a successful answer. */
  async send(request: HttpRequest): Promise<string> {
    const call = new LinkedAbort([request.signal, this.#closing.signal]);
    try {
      return await this.#sendUntilAnswered(request, call.signal);
    } finally {
      call.release();
    }
  }

  /** The body of a watch, once its headers are there. One attempt: whoever watches knows best when to try again. */
  async open(request: HttpRequest): Promise<WatchBody> {
    const link = new LinkedAbort([request.signal, this.#closing.signal], this.#options.requestTimeoutMs);
    try {
      const response = await this.#timed('WATCH', () => this.#request(request, link.signal, 'watches'));
      link.stopTimer();
      return { body: response.body, release: () => link.release(), aborted: () => link.aborted };
    } catch (error) {
      link.release();
      throw this.#failure(request, error, link).error;
    }
  }

  /** Ends everything under way with `aborted`. No socket and no timer is left when it resolves. */
  async close(): Promise<void> {
    this.#closing.abort();
    await Promise.all([this.#pools.destroy(), this.#options.limit.close()]);
  }

  async #sendUntilAnswered(request: HttpRequest, signal: AbortSignal): Promise<string> {
    for (let retries = 0; ; retries += 1) {
      await this.#passLimit(request, signal);
      const answer = await this.#attempt(request, signal);
      if (typeof answer === 'string') return answer;
      const { error, lost } = answer;
      const { method } = request;
      const waitMs = retryWaitMs({ method, error, lost, retries, retriesMax: this.#options.retriesMax });
      if (waitMs === undefined) throw error;
      this.#noteRetry(request, error, waitMs);
      await this.#options.clock.sleep(waitMs, signal);
    }
  }

  async #passLimit(request: HttpRequest, signal: AbortSignal): Promise<void> {
    const { clock, limit, meter } = this.#options;
    const sinceMs = clock.monotonicMs();
    await limit.pass(signal);
    const seconds = (clock.monotonicMs() - sinceMs) / 1_000;
    meter.observe(restClientLimiterDuration, seconds, { verb: request.method, host: this.#url.host });
  }

  #noteRetry({ method, path }: HttpRequest, error: ApiError, waitMs: number): void {
    const { logger, meter } = this.#options;
    meter.add(restClientRetries, 1, { code: codeLabel(error.code), verb: method, host: this.#url.host });
    logger.debug({ method, path, reason: error.reason, code: error.code, waitMs }, 'the request is sent again');
  }

  async #attempt(request: HttpRequest, signal: AbortSignal): Promise<string | FailedAttempt> {
    const link = new LinkedAbort([signal], this.#options.requestTimeoutMs);
    try {
      return await this.#timed(request.method, async () => {
        const response = await this.#request(request, link.signal, 'unary');
        return await unlessAborted(readBody(response.body, this.#options.bodyBytesMax), link.signal);
      });
    } catch (error) {
      return this.#failure(request, error, link);
    } finally {
      link.release();
    }
  }

  /** Headers of a 2xx answer. Throws an ApiError for any other, and what undici throws where there is none. */
  async #request(request: HttpRequest, signal: AbortSignal, role: Role): Promise<Response> {
    const response = await this.#dispatch(request, signal, role);
    // The iterator over the body reports what breaks it; without this a break before the first read would be uncaught.
    response.body.on('error', ignoreReported);
    this.#count(codeLabel(response.statusCode), request);
    if (response.statusCode >= 200 && response.statusCode < 300) return response;
    const body = await unlessAborted(readBody(response.body, this.#options.bodyBytesMax), signal);
    const { statusCode: code, headers } = response;
    throw errorFromResponse(request, { code, headers, body }, this.#options.clock.nowMs());
  }

  async #dispatch(request: HttpRequest, signal: AbortSignal, role: Role): Promise<Response> {
    const { requestTimeoutMs, watchQuietMsMax } = this.#options;
    const headers = await unlessAborted(this.#headers(request), signal);
    const pools = await this.#pools.current();
    this.#assertMayWrite(request);
    const options: Dispatcher.RequestOptions = {
      origin: this.#url.origin,
      path: this.#pathOf(request),
      method: request.method,
      headers,
      body: request.body ?? null,
      signal,
      headersTimeout: requestTimeoutMs,
      bodyTimeout: role === 'unary' ? requestTimeoutMs : watchQuietMsMax,
    };
    return unlessAborted(pools[role].request(options), signal).catch((error: unknown) => {
      throw pools.isUnsent(error) ? new UnsentError(error) : error;
    });
  }

  /** Waiting for the limit, for a repeat or for credentials may have taken longer than the right to write lasts. */
  #assertMayWrite({ method }: HttpRequest): void {
    if (method === 'GET' || this.#options.mayWrite === undefined || this.#options.mayWrite()) return;
    throw new ApiError({ reason: 'aborted', message: `${method} was not sent: the right to write has ended` });
  }

  /** What went wrong with an attempt, in the caller's words. */
  #failure(request: HttpRequest, error: unknown, { aborted, overdue }: LinkedAbort): FailedAttempt {
    if (error instanceof ApiError) return { error, lost: false };
    const unsent = error instanceof UnsentError;
    if (unsent) this.#pools.doubt();
    if (!aborted) this.#count(codeLabel(0), request);
    const failure = { error: unsent ? error.cause : error, aborted, overdue, unsent };
    return { error: errorFromFailure(request, failure), lost: !aborted && !overdue && !unsent };
  }

  #pathOf({ path }: HttpRequest): string {
    const prefix = this.#url.pathname.replace(/\/+$/, '');
    return `${prefix}${path}`;
  }

  async #headers(request: HttpRequest): Promise<Record<string, string>> {
    const { connection, userAgent } = this.#options;
    const type = request.contentType === undefined ? {} : { 'content-type': request.contentType };
    const who = await connection.authorization().catch((error: unknown) => {
      throw new UnsentError(error);
    });
    return { ...who, accept: 'application/json', 'user-agent': userAgent, ...type };
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

/** As client-go counts: a request without an answer has the code `<error>`. */
function codeLabel(code: number): string {
  return code === 0 ? '<error>' : String(code);
}

function ignoreReported(): void {
  // Reported by the body's iterator.
}
