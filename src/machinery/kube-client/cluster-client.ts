// The API server for commands that ask once and end: single requests without rate limit and retries, proxied pages, and
// ports of pods.
import type { Duplex } from 'node:stream';
import { type JsonMap, mapOf } from '../api/json-map.ts';
import { readBody } from './body.ts';
import type { Connection, Headers } from './connection.ts';
import { codeOf, errorFromFailure, errorFromResponse } from './errors.ts';
import { HttpPools } from './pools.ts';
import type { PodPort } from './port-forward.ts';

const bodyBytesMax = 64 * 1024 * 1024;
const unauthorized = 401;

interface ClusterRequest {
  readonly method: 'GET' | 'POST';
  readonly path: string;
  readonly body?: object;
  /** Default: JSON. */
  readonly accept?: string;
  /** Default: that of the server. */
  readonly host?: string;
  readonly signal: AbortSignal;
}

interface ClusterAnswer {
  readonly status: number;
  readonly body: string;
}

/** Every method rejects only with an ApiError, or with a ConnectionError if credentials cannot be obtained. */
export class ClusterClient {
  readonly connection: Connection;
  readonly #pools: HttpPools;
  readonly #userAgent: string;

  constructor(connection: Connection, userAgent: string) {
    this.connection = connection;
    this.#userAgent = userAgent;
    this.#pools = new HttpPools({ connection, tls: connection.tls, opened: () => undefined });
  }

  /** The object or list at this path. */
  async get(path: string, signal: AbortSignal, accept?: string): Promise<JsonMap> {
    return this.#json({ method: 'GET', path, signal, ...(accept === undefined ? {} : { accept }) });
  }

  async create(path: string, body: object, signal: AbortSignal): Promise<JsonMap> {
    return this.#json({ method: 'POST', path, body, signal });
  }

  /** The response of whatever serves this path, with any status. `host`: the header `Host`, if it is not the server's. */
  async page(path: string, signal: AbortSignal, host?: string): Promise<ClusterAnswer> {
    return this.#send({ method: 'GET', path, signal, accept: '*/*', ...(host === undefined ? {} : { host }) });
  }

  async forward(target: PodPort, signal: AbortSignal): Promise<Duplex> {
    const { server } = this.connection;
    const headers = await this.#headers();
    // Loaded only here: WebSockets are the larger half of undici.
    const opening = { server, headers, dispatcher: this.#pools.unary, target, signal };
    return import('./port-forward.ts').then(({ openPortForward }) => openPortForward(opening));
  }

  /** Closes all connections except forwarded ports. */
  close(): Promise<void> {
    return this.#pools.destroy();
  }

  async #json(asked: ClusterRequest): Promise<JsonMap> {
    const { status, body } = await this.#send(asked);
    if (status >= 300) throw errorFromResponse(asked, { code: status, headers: {}, body }, Date.now());
    return mapOf(parsed(body));
  }

  /** Once more with other credentials, if the first ones are rejected and there are others. */
  async #send(asked: ClusterRequest): Promise<ClusterAnswer> {
    const headers = await this.#headers();
    const answer = await this.#sendWith(headers, asked);
    if (answer.status !== unauthorized || !this.connection.refused(headers)) return answer;
    return this.#sendWith(await this.#headers(), asked);
  }

  async #sendWith(headers: Headers, asked: ClusterRequest): Promise<ClusterAnswer> {
    const { method, path, body, signal, host, accept = 'application/json' } = asked;
    try {
      const { origin, pathname, search } = new URL(`${this.connection.server}${path}`);
      const answer = await this.#pools.unary.request({
        origin,
        path: `${pathname}${search}`,
        method,
        headers: {
          ...headers,
          accept,
          ...(host === undefined ? {} : { host }),
          ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        },
        signal,
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      });
      return { status: answer.statusCode, body: String(await readBody(answer.body, bodyBytesMax)) };
    } catch (error) {
      const overdue = codeOf(error) === 'UND_ERR_CONNECT_TIMEOUT' || signal.reason instanceof DOMException;
      throw errorFromFailure(asked, { error, aborted: false, overdue, unsent: this.#pools.isUnsent(error) });
    }
  }

  async #headers(): Promise<Headers> {
    return { 'user-agent': this.#userAgent, ...(await this.connection.authorization()) };
  }
}

function parsed(body: string): unknown {
  try {
    return JSON.parse(body);
  } catch {
    return undefined; // not the API server: read as an empty object
  }
}
