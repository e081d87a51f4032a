/** Handles one request: authentication, concurrency limit, routing, errors. */
import { randomUUID } from 'node:crypto';
import type { OutgoingHttpHeaders } from 'node:http';
import { ApiError } from '../../../machinery/api/api-error.ts';
import type { Clock } from '../../../machinery/ports/clock.ts';
import type { Logger } from '../../../machinery/ports/logger.ts';
import { type Attributes, parseAttributes } from '../authorization/parse-attributes.ts';
import { anonymous } from '../authentication/user.ts';
import { notImplemented, pathNotFound, statusError } from '../api-errors/api-errors.ts';
import type { ServedResource } from '../resources.ts';
import { chooseErrorFormat, type WireFormat } from './accept.ts';
import type { AccessControl } from './access-control.ts';
import type { DocumentHandler } from './document-handler.ts';
import { cutOff, type Exchange, headerOf, type Incoming, type Outgoing } from './exchange.ts';
import { errorReply, pageNotFound, type Reply, sendReply, textReply } from './reply.ts';
import { RequestDeadline, timeoutMsOf } from './request-deadline.ts';
import type { InflightLimiter } from './inflight-limiter.ts';
import { isServedVersion, routeOf } from './request-route.ts';
import { type ResourceHandler, verbOf } from './resource-handler.ts';
import type { StallGate } from './stall-gate.ts';

interface RequestHandlerOptions {
  readonly access: AccessControl;
  readonly limiter: InflightLimiter;
  readonly documents: DocumentHandler;
  readonly resources: ResourceHandler;
  /** All that are served. */
  readonly served: readonly ServedResource[];
  readonly stall: StallGate;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** Fixed values: priority and fairness is not implemented. */
const flowHeaders: OutgoingHttpHeaders = {
  'x-kubernetes-pf-flowschema-uid': '00000000-0000-4000-8000-000000000001',
  'x-kubernetes-pf-prioritylevel-uid': '00000000-0000-4000-8000-000000000002',
};

export class RequestHandler {
  readonly #options: RequestHandlerOptions;
  /** Requests in flight. */
  readonly #open = new Set<AbortController>();
  #idle: (() => void) | undefined;

  constructor(options: RequestHandlerOptions) {
    this.#options = options;
  }

  /** Never rejects. */
  async handle(incoming: Incoming, outgoing: Outgoing): Promise<void> {
    const ended = new AbortController();
    this.#open.add(ended);
    outgoing.once('close', () => ended.abort());
    try {
      await this.#options.stall.pass(ended.signal);
      // A request whose client gave up meanwhile is not carried out.
      if (!ended.signal.aborted) await this.#respond(incoming, outgoing, ended);
    } catch (error) {
      this.#options.logger.error({ error, path: incoming.url }, 'request failed after the response had started');
      cutOff(outgoing);
    } finally {
      this.#open.delete(ended);
      if (this.#open.size === 0) this.#idle?.();
    }
  }

  /** Resolves when no request is in flight. */
  async idle(): Promise<void> {
    if (this.#open.size === 0) return;
    await new Promise<void>((resolve) => {
      this.#idle = resolve;
    });
  }

  async #respond(incoming: Incoming, outgoing: Outgoing, ended: AbortController): Promise<void> {
    const url = new URL(incoming.url ?? '/', 'https://apiserver');
    const method = incoming.method ?? 'GET';
    const { signal } = ended;
    const request = { method, path: url.pathname, query: url.searchParams, incoming, outgoing, signal };
    const headers: OutgoingHttpHeaders = {
      'audit-id': headerOf(incoming, 'audit-id') || randomUUID(),
      'cache-control': 'no-cache, private',
      ...flowHeaders,
    };
    const anonymousExchange = { ...request, user: anonymous };
    const deadline = new RequestDeadline(this.#options.clock, ended);
    await this.#answer(anonymousExchange, headers, deadline);
    await deadline.settle(anonymousExchange, headers);
  }

  async #answer(anonymousExchange: Exchange, headers: OutgoingHttpHeaders, deadline: RequestDeadline): Promise<void> {
    const { signal, outgoing } = anonymousExchange;
    const send = async (reply: Reply | undefined): Promise<void> => {
      if (reply !== undefined && !signal.aborted) {
        await sendReply(anonymousExchange, reply, headers, this.#options.clock);
      }
    };
    try {
      const reply = await this.#replyTo(anonymousExchange, headers, deadline);
      // Between the change of the store and this line is no turn of the event loop, so the deadline has not passed in between.
      if (isWrite(anonymousExchange)) deadline.markCarriedOut();
      await send(reply);
    } catch (error) {
      if (outgoing.headersSent) throw error;
      await send(this.#failureReply(anonymousExchange, error));
    }
  }

  /** Undefined after a watch, which writes its own response. */
  async #replyTo(
    anonymousExchange: Exchange,
    headers: OutgoingHttpHeaders,
    deadline: RequestDeadline,
  ): Promise<Reply | undefined> {
    if (!isLongRunning(anonymousExchange)) deadline.start(timeoutMsOf(anonymousExchange.query.get('timeout') ?? ''));
    const user = this.#options.access.userFor(anonymousExchange);
    return await this.#route({ ...anonymousExchange, user }, headers);
  }

  #failureReply(exchange: Exchange, error: unknown): Reply {
    if (error instanceof ApiError && error.status !== undefined) return errorReply(error, errorFormatOf(exchange));
    return this.#internalError(exchange, error);
  }

  #internalError(exchange: Exchange, error: unknown): Reply {
    const { path } = exchange;
    this.#options.logger.error({ error, path }, 'request failed');
    const message = error instanceof Error ? error.message : String(error);
    const details = { causes: [{ message }] };
    const failed = statusError(500, 'InternalError', `Internal error occurred: ${message}`, details);
    return errorReply(failed, errorFormatOf(exchange));
  }

  async #route(exchange: Exchange, headers: OutgoingHttpHeaders): Promise<Reply | undefined> {
    const route = routeOf(exchange.path, this.#options.served);
    const watches = route !== undefined && verbOf(exchange, route.name) === 'watch';
    const release = watches ? () => {} : this.#options.limiter.acquire(exchange.method);
    if (release === undefined) return tooManyRequests();
    try {
      if (route !== undefined) return await this.#options.resources.handle(exchange, route, headers);
      return this.#options.documents.handle(exchange) ?? this.#replyNotFound(exchange);
    } finally {
      release();
    }
  }

  /** Below a served group version the response is a Status, elsewhere plain text. */
  #replyNotFound(exchange: Exchange): Reply {
    const refusal = describeUnserved(parseAttributes(exchange));
    if (refusal !== undefined) throw notImplemented(refusal);
    if (isServedVersion(exchange.path, this.#options.served)) throw pathNotFound();
    return pageNotFound();
  }
}

function isWrite({ method }: Exchange): boolean {
  return method !== 'GET' && method !== 'HEAD';
}

/** Watches and logs have no deadline (upstream `BasicLongRunningRequestCheck`). */
function isLongRunning(request: Exchange): boolean {
  const attributes = parseAttributes(request);
  if (attributes.kind !== 'resource') return false;
  return attributes.verb === 'watch' || attributes.subresource === 'log';
}

function errorFormatOf({ incoming }: Exchange): WireFormat {
  return chooseErrorFormat(headerOf(incoming, 'accept'));
}

/** Plain text instead of a Status (upstream `filters.tooManyRequests`). */
function tooManyRequests(): Reply {
  return textReply(429, 'Too many requests, please try again later.\n', { 'retry-after': '1' });
}

const byKubeApiserver = 'kube-apiserver serves it: nlc demo --control-plane=DIR, or another cluster';
const byKubelets = 'a cluster with kube-apiserver and kubelets that run containers serves it';

/** What serves a path that this server refuses, by resource and subresource. */
const unserved: ReadonlyMap<string, string> = new Map([
  ['certificatesigningrequests/approval', byKubeApiserver],
  ['pods/ephemeralcontainers', byKubeApiserver],
  ['pods/resize', byKubeApiserver],
  ['serviceaccounts/token', byKubeApiserver],
  ['nodes/proxy', byKubelets],
  ['pods/attach', byKubelets],
  ['pods/exec', byKubelets],
  ['pods/portforward', byKubelets],
  ['pods/proxy', byKubelets],
  ['services/proxy', byKubelets],
]);

/** Why a request for a path that this server does not have is refused; undefined if kube-apiserver does not have it either. */
export function describeUnserved(attributes: Attributes): string | undefined {
  if (attributes.kind !== 'resource') return undefined;
  const path = `${attributes.resource}/${attributes.subresource}`;
  const server = unserved.get(path);
  return server === undefined ? undefined : `${path} is not served by the embedded API server; ${server}`;
}
