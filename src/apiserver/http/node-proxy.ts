/** Forwards requests on `nodes/proxy` to kubelets (upstream `node/rest.ProxyREST`, `proxy.UpgradeAwareHandler`). */
import type { ClientRequest, IncomingMessage, OutgoingHttpHeaders } from 'node:http';
import { ownValue } from '../../api/json-map.ts';
import type { Clock } from '../../ports/clock.ts';
import { badRequest, methodNotAllowed, notImplemented, statusError } from '../api-errors/api-errors.ts';
import { buildRequestHeaders, buildResponseHeaders } from '../node-proxy/build-forwarded-headers.ts';
import { parseNodeId, type ProxyPath } from '../node-proxy/parse-proxy-path.ts';
import { type KubeletLocation, selectKubeletLocation } from '../node-proxy/select-kubelet-location.ts';
import type { ObjectRegistry } from '../registry/object-registry.ts';
import type { Target } from '../registry/request-target.ts';
import { begin, cutOff, type Exchange, finish, headerOf, type Incoming, respond, write } from './exchange.ts';
import { type KubeletClient, unreachable } from './kubelet-client.ts';
import { discardBody } from './request-deadline.ts';

interface NodeProxyOptions {
  readonly registry: ObjectRegistry;
  /** The resource nodes. */
  readonly nodes: Target;
  readonly kubelets: KubeletClient;
  readonly clock: Clock;
}

const methods: ReadonlySet<string> = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']);

export class NodeProxy {
  readonly #options: NodeProxyOptions;

  constructor(options: NodeProxyOptions) {
    this.#options = options;
  }

  /** Resolves after the response of the kubelet was sent, or the client has disconnected. Rejects with an ApiError before that. */
  async handle(exchange: Exchange, path: ProxyPath, headers: OutgoingHttpHeaders): Promise<void> {
    const { method, query, incoming, outgoing } = exchange;
    if (!methods.has(method)) throw methodNotAllowed();
    if (query.has('dryRun')) throw badRequest('dryRun is not supported');
    const location = this.#locate(path.id);
    if (/upgrade/i.test(headerOf(incoming, 'connection'))) throw notImplemented('an upgrade of nodes/proxy');
    if (path.target === '' && (method === 'GET' || method === 'HEAD')) {
      const redirect = { ...headers, location: `${path.prefix}/${queryOf(incoming)}`, 'content-length': 0 };
      respond(outgoing, 301, redirect, new Uint8Array());
      return;
    }
    await this.#forward(exchange, path, { location, headers });
  }

  #locate(id: string): KubeletLocation {
    const { registry, nodes, kubelets } = this.#options;
    const requested = parseNodeId(id);
    if (requested === undefined) throw invalidRequest(id);
    const { content } = registry.get({ ...nodes, name: requested.name });
    const selected = selectKubeletLocation(content.status, requested);
    if ('location' in selected) {
      if (!kubelets.allows(selected.location.host)) throw badRequest('address not allowed');
      return selected.location;
    }
    switch (selected.problem) {
      case 'no address':
        throw statusError(500, '', selected.message);
      case 'no such port':
        throw unreachable(`dial tcp: address ${requested.port}: invalid port`);
      case 'wrong port':
        throw invalidRequest(id);
    }
  }

  async #forward(
    exchange: Exchange,
    { prefix, target }: ProxyPath,
    { location, headers }: { readonly location: KubeletLocation; readonly headers: OutgoingHttpHeaders },
  ): Promise<void> {
    const { incoming, signal, method } = exchange;
    const ownHost = headerOf(incoming, ':authority') || headerOf(incoming, 'host');
    const host = `${location.host}:${location.port}`;
    const response = await this.#send(exchange, location, {
      method,
      path: (target === '' ? '/' : target) + queryOf(incoming),
      headers: {
        ...buildRequestHeaders(incoming.rawHeaders, {
          host: ownHost || host,
          remoteAddress: incoming.socket.remoteAddress ?? '',
          uri: prefix + target,
        }),
        ...(hasUnsizedBody(incoming) ? { 'transfer-encoding': 'chunked' } : {}),
      },
      signal,
    });
    const forwarded = buildResponseHeaders(response.rawHeaders, { prefix, hosts: [host, ownHost] });
    await this.#sendResponse(exchange, response, joinHeaders(headers, forwarded));
  }

  async #send(
    { incoming }: Exchange,
    location: KubeletLocation,
    sent: Omit<Parameters<KubeletClient['send']>[1], 'writeBody'>,
  ): Promise<IncomingMessage> {
    const writeBody = (request: ClientRequest): void => {
      if (hasBody(incoming)) incoming.pipe(request);
      else request.end();
    };
    try {
      return await this.#options.kubelets.send(location, { ...sent, writeBody });
    } catch (error) {
      // The rest of a body is discarded, so that the client receives the answer.
      incoming.unpipe();
      incoming.resume();
      throw error;
    }
  }

  /** A response that the kubelet does not complete is cut off, which the client detects. */
  async #sendResponse(
    { outgoing, signal, incoming }: Exchange,
    response: IncomingMessage,
    headers: OutgoingHttpHeaders,
  ): Promise<void> {
    try {
      begin(outgoing, response.statusCode ?? 502, headers);
      for await (const chunk of response) {
        await write(outgoing, chunk, signal);
        if (signal.aborted) return;
      }
      finish(outgoing);
    } catch (error) {
      if (!outgoing.headersSent) throw error;
      cutOff(outgoing);
    } finally {
      response.destroy();
      incoming.unpipe();
    }
    if (hasBody(incoming)) await discardBody(incoming, outgoing, this.#options.clock);
  }
}

function invalidRequest(id: string): Error {
  return badRequest(`invalid node request ${JSON.stringify(id)}`);
}

/** With the question mark; empty if there is none. */
function queryOf({ url = '' }: Incoming): string {
  return new URL(url, 'https://apiserver').search;
}

function hasBody(incoming: Incoming): boolean {
  return Number(headerOf(incoming, 'content-length')) > 0 || hasUnsizedBody(incoming);
}

/** Without its length in advance. */
function hasUnsizedBody(incoming: Incoming): boolean {
  if (headerOf(incoming, 'content-length') !== '') return false;
  return 'stream' in incoming ? !incoming.stream.endAfterHeaders : headerOf(incoming, 'transfer-encoding') !== '';
}

/** A header that both have occurs twice, as in kube-apiserver. */
function joinHeaders(
  own: OutgoingHttpHeaders,
  forwarded: ReturnType<typeof buildResponseHeaders>,
): OutgoingHttpHeaders {
  const joined = Object.entries(forwarded).map(([name, value]) => {
    const values = [ownValue(own, name) ?? [], value].flat().map(String);
    return [name, values.length === 1 ? values[0] : values] as const;
  });
  return { ...own, ...Object.fromEntries(joined) };
}
