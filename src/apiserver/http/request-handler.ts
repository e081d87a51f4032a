/** One request from its first byte to its last: who asks, is there room, where does it lead, what went wrong. */
import { randomUUID } from 'node:crypto';
import type { OutgoingHttpHeaders } from 'node:http';
import { ApiError } from '../../api/api-error.ts';
import type { Logger } from '../../ports/logger.ts';
import { pathNotFound, refusal } from '../registry/refusals.ts';
import { type DocumentHandler, isPublicPath } from './document-handler.ts';
import { cutOff, type Exchange, headerOf, type Incoming, type Outgoing, type User } from './exchange.ts';
import { errorReply, pageNotFound, type Reply, sendReply, textReply } from './reply.ts';
import type { RequestGate } from './request-gate.ts';
import { isServedVersion, routeOf } from './request-route.ts';
import { refuseStreamed, type ResourceHandler, verbOf } from './resource-handler.ts';
import type { TokenAuthenticator } from './token-authenticator.ts';

export interface RequestHandlerOptions {
  readonly authenticator: TokenAuthenticator;
  readonly gate: RequestGate;
  readonly documents: DocumentHandler;
  readonly resources: ResourceHandler;
  readonly logger: Logger;
}

const anonymous: User = { name: 'system:anonymous', groups: ['system:unauthenticated'] };
/** Stand-ins for priority and fairness, which there is none of. */
const flowHeaders: OutgoingHttpHeaders = {
  'x-kubernetes-pf-flowschema-uid': '00000000-0000-4000-8000-000000000001',
  'x-kubernetes-pf-prioritylevel-uid': '00000000-0000-4000-8000-000000000002',
};

export class RequestHandler {
  readonly #options: RequestHandlerOptions;
  /** Requests that have not been answered to the end. */
  readonly #open = new Set<AbortController>();
  #idle: (() => void) | undefined;

  constructor(options: RequestHandlerOptions) {
    this.#options = options;
  }

  /** Never rejects. */
  async handle(incoming: Incoming, outgoing: Outgoing): Promise<void> {
    const gone = new AbortController();
    this.#open.add(gone);
    outgoing.once('close', () => gone.abort());
    try {
      await this.#answer(incoming, outgoing, gone.signal);
    } catch (error) {
      this.#options.logger.error({ error, path: incoming.url }, 'a request failed after its answer had begun');
      cutOff(outgoing);
    } finally {
      this.#open.delete(gone);
      if (this.#open.size === 0) this.#idle?.();
    }
  }

  /** Resolves when no request is under way. */
  async idle(): Promise<void> {
    if (this.#open.size === 0) return;
    await new Promise<void>((resolve) => {
      this.#idle = resolve;
    });
  }

  async #answer(incoming: Incoming, outgoing: Outgoing, signal: AbortSignal): Promise<void> {
    const url = new URL(incoming.url ?? '/', 'https://apiserver');
    const method = incoming.method ?? 'GET';
    const request = { method, path: url.pathname, query: url.searchParams, incoming, outgoing, signal };
    const headers: OutgoingHttpHeaders = {
      'audit-id': headerOf(incoming, 'audit-id') || randomUUID(),
      'cache-control': 'no-cache, private',
      ...flowHeaders,
    };
    const anybody = { ...request, user: anonymous };
    const reply = await this.#replyTo(anybody, headers);
    if (reply !== undefined && !signal.aborted) await sendReply(anybody, reply, headers);
  }

  /** Undefined once a watch has been served: it sends its own answer. */
  async #replyTo(anybody: Exchange, headers: OutgoingHttpHeaders): Promise<Reply | undefined> {
    try {
      const user = isPublicPath(anybody.path) ? anonymous : this.#options.authenticator.authenticate(anybody.incoming);
      return await this.#route({ ...anybody, user }, headers);
    } catch (error) {
      if (error instanceof ApiError && error.status !== undefined) return errorReply(error);
      if (anybody.outgoing.headersSent) throw error;
      return this.#internalError(anybody, error);
    }
  }

  #internalError({ path }: Exchange, error: unknown): Reply {
    this.#options.logger.error({ error, path }, 'a request failed');
    const message = error instanceof Error ? error.message : String(error);
    const details = { causes: [{ message }] };
    return errorReply(refusal(500, 'InternalError', `Internal error occurred: ${message}`, details));
  }

  async #route(exchange: Exchange, headers: OutgoingHttpHeaders): Promise<Reply | undefined> {
    const route = routeOf(exchange.path);
    const watches = route !== undefined && verbOf(exchange, route.name) === 'watch';
    const leave = watches ? () => {} : this.#options.gate.enter(exchange.method);
    if (leave === undefined) return tooManyRequests();
    try {
      if (route !== undefined) return await this.#options.resources.handle(exchange, route, headers);
      return this.#options.documents.handle(exchange) ?? nothingThere(exchange.path);
    } finally {
      leave();
    }
  }
}

/** Below a served group version the API itself says so, elsewhere nobody does. */
function nothingThere(path: string): Reply {
  refuseStreamed(path);
  if (isServedVersion(path)) throw pathNotFound();
  return pageNotFound();
}

/** No Status: whoever is that busy writes no JSON (upstream `filters.tooManyRequests`). */
function tooManyRequests(): Reply {
  return textReply(429, 'Too many requests, please try again later.\n', { 'retry-after': '1' });
}
