import type { Socket } from 'node:net';
import { Agent, buildConnector, type Dispatcher, Pool, ProxyAgent } from 'undici';
import type { Connection, TlsOptions } from './connection.ts';
import { ReadPace, type Receiver, undeciding } from './read-pace.ts';

const connectMsMax = 10_000;
/**
 * Idle time before the first TCP keepalive probe. libuv sends ten more, one per second, before the connection counts as
 * lost: a peer that vanished silently is detected after 14 s.
 */
const tcpKeepaliveMs = 4_000;
const unaryConnectionsMaxDefault = 32;
export const idleConnectionMsMax = 30_000;
const noLimit = 0;

/** Purpose of a connection. */
export type Role = 'unary' | 'watches';

interface PoolsOptions {
  readonly connection: Connection;
  readonly tls: TlsOptions;
  /** Maximum number of connections for unary calls. */
  readonly unaryConnectionsMax?: number | undefined;
  /** Called when a connection was established. */
  readonly opened: (role: Role) => void;
  /** What acts on the events of watches; absent: nothing. */
  readonly receiver?: Receiver | undefined;
}

/**
 * The sockets to one server, separated by role: unary calls share a bounded pool, each watch has its own connection, so
 * that a thousand slow events never delay a write. HTTP/1.1 on purpose: with one HTTP/2 session a dead connection, or a
 * server that shuts down, would block everything at once.
 */
export class HttpPools {
  readonly unary: Dispatcher;
  readonly watches: Dispatcher;
  readonly #unsent = new WeakSet<object>();
  #lastResponseAtMs = -Infinity;

  constructor(options: PoolsOptions) {
    this.unary = this.#createPool(options, 'unary', options.unaryConnectionsMax ?? unaryConnectionsMaxDefault);
    this.watches = this.#createPool(options, 'watches', null);
  }

  /** True if this failure happened before a connection was established: nothing of the request was sent. */
  isUnsent(error: unknown): boolean {
    if (typeof error !== 'object' || error === null) return false;
    return this.#unsent.has(error) || ('syscall' in error && error.syscall === 'connect');
  }

  /** A unary call got a response at this monotonic time. */
  noteResponse(nowMs: number): void {
    this.#lastResponseAtMs = nowMs;
  }

  /** Whether a unary call got a response after that time. */
  hasResponseSince(sinceMs: number): boolean {
    return this.#lastResponseAtMs > sinceMs;
  }

  /** Closes idle connections; requests in flight finish, watches too unless they are cut. */
  async retire({ cutWatches }: { readonly cutWatches: boolean }): Promise<void> {
    await Promise.all([this.unary.close(), cutWatches ? this.watches.destroy() : this.watches.close()]);
  }

  /** Closes everything. Resolves after all sockets are closed. */
  async destroy(): Promise<void> {
    await Promise.all([this.unary.destroy(), this.watches.destroy()]);
  }

  #createPool(options: PoolsOptions, role: Role, connections: number | null): Dispatcher {
    const { connection, tls, opened } = options;
    const limits = {
      connections,
      allowH2: false,
      pipelining: 1,
      keepAliveTimeout: idleConnectionMsMax,
      // Every request sets its own timeouts; the defaults would be five minutes.
      headersTimeout: noLimit,
      bodyTimeout: noLimit,
    };
    const socket = { timeout: connectMsMax, keepAlive: true, keepAliveInitialDelay: tcpKeepaliveMs, allowH2: false };
    const secured = { ...socket, ...defined(tls), minVersion: 'TLSv1.2' as const };
    const factory = (origin: string | URL, given: object): Dispatcher =>
      this.#trackConnects(new Pool(origin, { ...limits, ...given }), () => opened(role));
    if (connection.proxyUrl === undefined) {
      const connect = role === 'watches' ? pacedConnectorFor(secured, options) : connectorFor(secured, tls);
      return new Agent({ ...limits, factory, connect });
    }
    return new ProxyAgent({
      ...limits,
      factory,
      uri: connection.proxyUrl,
      clientFactory: (origin, given) => new Pool(origin, { ...given, headersTimeout: connectMsMax }),
      proxyTls: socket,
      requestTls: secured,
    });
  }

  /** A failed connect has sent nothing: the pool emits this event before the request's own error. */
  #trackConnects(pool: Pool, opened: () => void): Pool {
    pool.on('connect', opened);
    pool.on('connectionError', (_origin, _targets, error) => {
      this.#unsent.add(error);
    });
    return pool;
  }
}

/** undici would use the URL's host as the server name even if another one is configured. */
function connectorFor(options: buildConnector.BuildOptions, { servername }: TlsOptions): buildConnector.connector {
  const connect = buildConnector(options);
  return (target, callback) => connect(servername === undefined ? target : { ...target, servername }, callback);
}

/** Connections whose reads are paced, each on its own. Those through a proxy are not. */
function pacedConnectorFor(
  options: buildConnector.BuildOptions,
  { tls, receiver = undeciding }: PoolsOptions,
): buildConnector.connector {
  const paced = { ...options, highWaterMark: pacedHighWaterMark };
  const connect = connectorFor(paced, tls);
  return (target, callback) =>
    connect(target, (...result) => {
      const [error, socket] = result;
      if (error === null) paceReads(socket, new ReadPace(receiver));
      callback(...result);
    });
}

/** The options without undefined ones: `tls.connect` treats an undefined `servername` as set. */
function defined(tls: TlsOptions): buildConnector.BuildOptions {
  return Object.fromEntries(Object.entries(tls).filter(([, value]) => value !== undefined));
}

/**
 * A dispatcher that calls `assertMayLeave` once more when a request has its connection and is about to be sent: it may
 * have waited for a handshake or behind other requests, and the process may have been paused meanwhile. If that throws,
 * the request fails with the error and is not sent.
 */
export function withLastCheck(dispatcher: Dispatcher, assertMaySend: () => void): Dispatcher {
  return dispatcher.compose((dispatch) => (options, handler) => dispatch(options, guarded(handler, assertMaySend)));
}

function guarded(handler: Dispatcher.DispatchHandler, assertMaySend: () => void): Dispatcher.DispatchHandler {
  return {
    onRequestStart: (...args) => {
      assertMaySend();
      handler.onRequestStart?.(...args);
    },
    onRequestUpgrade: (...args) => handler.onRequestUpgrade?.(...args),
    onResponseStart: (...args) => handler.onResponseStart?.(...args),
    onResponseData: (...args) => handler.onResponseData?.(...args),
    onResponseEnd: (...args) => handler.onResponseEnd?.(...args),
    onResponseError: (...args) => handler.onResponseError?.(...args),
  };
}

/**
 * High-water mark of a socket whose reads are paced: its source stops after each read until it is asked for more, so what
 * arrives meanwhile stays in the kernel's buffer and wakes nothing.
 */
const pacedHighWaterMark = 1;

/** Lets the pace decide when the socket is read, by deferring `_read`, with which a stream asks its source for more. */
function paceReads(socket: Socket, pace: ReadPace): void {
  const readNow = socket._read.bind(socket);
  let isWaiting = false;
  let timer: NodeJS.Timeout | undefined;
  const read = (size: number): void => {
    isWaiting = false;
    if (socket.destroyed) return;
    pace.noteRead(performance.now(), socket.bytesRead);
    readNow(size);
  };
  socket._read = (size) => {
    if (isWaiting) return;
    if (!pace.isBusy(performance.now(), socket.bytesRead)) return readNow(size);
    isWaiting = true;
    // Later in this turn the rest of the same read comes, as further TLS records.
    setImmediate(() => {
      if (socket.destroyed) return;
      const waitMs = pace.waitMs(performance.now(), socket.bytesRead);
      if (waitMs <= 0) read(size);
      else timer = setTimeout(read, waitMs, size);
    });
  };
  socket.once('close', () => clearTimeout(timer));
}
