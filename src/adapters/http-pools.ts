import { Agent, buildConnector, type Dispatcher, ProxyAgent } from 'undici';
import type { Connection, TlsOptions } from './http-connection.ts';

export const connectMsMax = 10_000;
/** The first probe after this much silence; with the kernel's own intervals a peer that vanished shows after about 20 s. */
export const tcpKeepaliveMs = 10_000;
export const unaryConnectionsMax = 32;
const idleConnectionMsMax = 30_000;
const noLimit = 0;

/**
 * The sockets to one server, apart by role: unary calls share a bounded pool, each watch has a connection of its own, so
 * that a thousand slow events never stand before one quick write. HTTP/1.1 on purpose: with one HTTP/2 session a dead
 * connection, or a server that is going away, would hold up everything at once.
 */
export class HttpPools {
  readonly unary: Dispatcher;
  readonly watches: Dispatcher;
  readonly #unsent = new WeakSet<object>();

  constructor(connection: Connection, tls: TlsOptions) {
    this.unary = this.#createPool(connection, tls, unaryConnectionsMax);
    this.watches = this.#createPool(connection, tls, null);
  }

  /** This failure happened before there was a connection: nothing of the request has left. */
  isUnsent(error: unknown): boolean {
    if (typeof error !== 'object' || error === null) return false;
    return this.#unsent.has(error) || ('syscall' in error && error.syscall === 'connect');
  }

  /** Lets what is under way finish, then closes. */
  async retire(): Promise<void> {
    await Promise.all([this.unary.close(), this.watches.close()]);
  }

  /** Cuts everything. No socket is left when it resolves. */
  async destroy(): Promise<void> {
    await Promise.all([this.unary.destroy(), this.watches.destroy()]);
  }

  #createPool(connection: Connection, tls: TlsOptions, connections: number | null): Dispatcher {
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
    if (connection.proxyUrl === undefined) return new Agent({ ...limits, connect: this.#connector(tls, socket) });
    return new ProxyAgent({ ...limits, uri: connection.proxyUrl, requestTls: { ...socket, ...defined(tls) } });
  }

  #connector(tls: TlsOptions, socket: buildConnector.BuildOptions): buildConnector.connector {
    const connect = buildConnector({ ...socket, ...defined(tls) });
    return (options, callback) => {
      const named = tls.servername === undefined ? options : { ...options, servername: tls.servername };
      connect(named, (...args) => {
        if (args[0] !== null) this.#unsent.add(args[0]);
        callback(...args);
      });
    };
  }
}

/** The options without those that are undefined: `tls.connect` takes an undefined `servername` for a wish. */
function defined(tls: TlsOptions): buildConnector.BuildOptions {
  return Object.fromEntries(Object.entries(tls).filter(([, value]) => value !== undefined));
}
