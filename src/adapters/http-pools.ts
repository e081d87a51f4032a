import { Agent, buildConnector, type Dispatcher, Pool, ProxyAgent } from 'undici';
import type { Connection, TlsOptions } from './http-connection.ts';

export const connectMsMax = 10_000;
/**
 * The first probe after this much silence. libuv sends ten more, one a second, before the connection counts as lost: a
 * peer that vanished without a word is noticed after 14 s.
 */
export const tcpKeepaliveMs = 4_000;
export const unaryConnectionsMax = 32;
const idleConnectionMsMax = 30_000;
const noLimit = 0;

/** What a connection is for. */
export type Role = 'unary' | 'watches';

export interface PoolsOptions {
  readonly connection: Connection;
  readonly tls: TlsOptions;
  /** A connection was made. */
  readonly opened: (role: Role) => void;
}

/**
 * The sockets to one server, apart by role: unary calls share a bounded pool, each watch has a connection of its own, so
 * that a thousand slow events never stand before one quick write. HTTP/1.1 on purpose: with one HTTP/2 session a dead
 * connection, or a server that is going away, would hold up everything at once.
 */
export class HttpPools {
  readonly unary: Dispatcher;
  readonly watches: Dispatcher;
  readonly #unsent = new WeakSet<object>();

  constructor(options: PoolsOptions) {
    this.unary = this.#createPool(options, 'unary', unaryConnectionsMax);
    this.watches = this.#createPool(options, 'watches', null);
  }

  /** This failure happened before there was a connection: nothing of the request has left. */
  isUnsent(error: unknown): boolean {
    if (typeof error !== 'object' || error === null) return false;
    return this.#unsent.has(error) || ('syscall' in error && error.syscall === 'connect');
  }

  /** Lets what is under way finish, watches included unless they are to be cut, then closes. */
  async retire({ cutWatches }: { readonly cutWatches: boolean }): Promise<void> {
    await Promise.all([this.unary.close(), cutWatches ? this.watches.destroy() : this.watches.close()]);
  }

  /** Cuts everything. No socket is left when it resolves. */
  async destroy(): Promise<void> {
    await Promise.all([this.unary.destroy(), this.watches.destroy()]);
  }

  #createPool({ connection, tls, opened }: PoolsOptions, role: Role, connections: number | null): Dispatcher {
    const limits = {
      connections,
      allowH2: false,
      pipelining: 1,
      keepAliveTimeout: idleConnectionMsMax,
      // Every request brings its own; these would be five minutes.
      headersTimeout: noLimit,
      bodyTimeout: noLimit,
    };
    const socket = { timeout: connectMsMax, keepAlive: true, keepAliveInitialDelay: tcpKeepaliveMs, allowH2: false };
    const secured = { ...socket, ...defined(tls), minVersion: 'TLSv1.2' as const };
    const factory = (origin: string | URL, options: object): Dispatcher =>
      this.#noting(new Pool(origin, { ...limits, ...options }), () => opened(role));
    if (connection.proxyUrl === undefined)
      return new Agent({ ...limits, factory, connect: namedConnector(secured, tls) });
    return new ProxyAgent({
      ...limits,
      factory,
      uri: connection.proxyUrl,
      clientFactory: (origin, options) => new Pool(origin, { ...options, headersTimeout: connectMsMax }),
      proxyTls: socket,
      requestTls: secured,
    });
  }

  /** What failed to connect has sent nothing: the pool says so before the request's own error is told. */
  #noting(pool: Pool, opened: () => void): Pool {
    pool.on('connect', opened);
    pool.on('connectionError', (_origin, _targets, error) => {
      this.#unsent.add(error);
    });
    return pool;
  }
}

/** undici would ask for the URL's name even where another one is to be asked for. */
function namedConnector(options: buildConnector.BuildOptions, { servername }: TlsOptions): buildConnector.connector {
  const connect = buildConnector(options);
  return (wanted, callback) => connect(servername === undefined ? wanted : { ...wanted, servername }, callback);
}

/** The options without those that are undefined: `tls.connect` takes an undefined `servername` for a wish. */
function defined(tls: TlsOptions): buildConnector.BuildOptions {
  return Object.fromEntries(Object.entries(tls).filter(([, value]) => value !== undefined));
}
