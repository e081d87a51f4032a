/** The listening socket: HTTP/1.1 and HTTP/2 on one TLS port, or plain HTTP/1.1. Can close all its connections. */
import type { Server } from 'node:http';
import { createSecureServer, type Http2SecureServer, type ServerHttp2Session } from 'node:http2';
import type { AddressInfo, Socket } from 'node:net';
import type { Incoming, Outgoing } from './exchange.ts';

const { createServer } = process.getBuiltinModule('node:http');

/** Clients keep idle connections for 90 s; a longer server timeout avoids a race between a request and the close. */
const keepAliveMs = 180_000;
/** Label selectors are part of the URL. */
const headerBytesMax = 64 * 1024;
/** Upstream `--http2-max-streams-per-connection`: 1,000, for clients with many watches. */
const streamsPerConnectionMax = 1_000;
/**
 * Megabytes that one connection may hold, answers that its client has not read included; beyond, Node refuses new streams and
 * then ends the connection, watches included. Enough for every stream to hold the largest answer that is sent in one piece,
 * 256 KiB; a long list holds 64 KiB and one object, and no answer is held beyond the deadline of its request. Node's default, 10, is exceeded
 * by 160 lists at once.
 */
const sessionMemoryMax = 262;

interface ListenerOptions {
  readonly host: string;
  readonly port: number;
  /** Absent: plain HTTP. */
  readonly certificate: { readonly certPem: string; readonly keyPem: string } | undefined;
  readonly onRequest: (incoming: Incoming, outgoing: Outgoing) => void;
}

export class Listener {
  readonly #server: Server | Http2SecureServer;
  readonly #sockets = new Set<Socket>();
  readonly #sessions = new Set<ServerHttp2Session>();

  private constructor(server: Server | Http2SecureServer) {
    this.#server = server;
  }

  /** Rejects if the address cannot be bound. */
  static async open(options: ListenerOptions): Promise<Listener> {
    const server =
      options.certificate === undefined ? plainServer(options) : secureServer(options, options.certificate);
    const listener = new Listener(server);
    listener.#follow();
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject);
      server.listen(options.port, options.host, () => {
        server.removeListener('error', reject);
        resolve();
      });
    });
    return listener;
  }

  get port(): number {
    const address: AddressInfo | string | null = this.#server.address();
    return typeof address === 'object' && address !== null ? address.port : 0;
  }

  /** Closes every connection, also in the middle of a response. */
  dropConnections(): void {
    for (const socket of this.#sockets) socket.destroy();
  }

  /** Accepts no more connections and sends GOAWAY to HTTP/2 clients. */
  stopAccepting(): Promise<void> {
    const closed = new Promise<void>((resolve) => {
      this.#server.close(() => resolve());
    });
    for (const session of this.#sessions) session.close();
    return closed;
  }

  #follow(): void {
    this.#server.on('connection', (socket: Socket) => {
      socket.setNoDelay(true);
      this.#sockets.add(socket);
      socket.once('close', () => this.#sockets.delete(socket));
    });
    this.#server.on('session', (session: ServerHttp2Session) => {
      this.#sessions.add(session);
      session.once('close', () => this.#sessions.delete(session));
      // A disconnecting client is not an error; without a listener it would end the process.
      session.on('error', () => session.destroy());
    });
  }
}

function plainServer(options: ListenerOptions): Server {
  const server = createServer({ keepAliveTimeout: keepAliveMs, maxHeaderSize: headerBytesMax }, options.onRequest);
  return configureTimeouts(server);
}

function secureServer(
  options: ListenerOptions,
  { certPem, keyPem }: NonNullable<ListenerOptions['certificate']>,
): Http2SecureServer {
  const server = createSecureServer(
    {
      allowHTTP1: true,
      cert: certPem,
      key: keyPem,
      maxSessionMemory: sessionMemoryMax,
      settings: { maxConcurrentStreams: streamsPerConnectionMax, maxHeaderListSize: headerBytesMax },
    },
    options.onRequest,
  );
  // Failed handshakes are client errors and are not logged.
  server.on('tlsClientError', (_error, socket) => socket.destroy());
  return configureTimeouts(server);
}

/** No request timeout: watches have no fixed duration. */
function configureTimeouts<T extends Server | Http2SecureServer>(server: T): T {
  server.setTimeout(0);
  Object.assign(server, { requestTimeout: 0, headersTimeout: keepAliveMs + 1_000, keepAliveTimeout: keepAliveMs });
  return server;
}
