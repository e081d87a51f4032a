// The sockets of the pages: HTTP or HTTPS, with a limit on every resource that a client could exhaust.
import type { RequestListener, Server } from 'node:http';
import { createServer as createTlsServer, type Server as TlsServer } from 'node:https';
import { constants } from 'node:crypto';
import type { Socket } from 'node:net';
import { type PeerCertificate, TLSSocket } from 'node:tls';
import type { Logger } from '../ports/logger.ts';
import { sameBytes } from '../kube-client/connection.ts';

const { createServer } = process.getBuiltinModule('node:http');

/** The certificate that a TLS server presents, and the CA of client certificates. PEM. */
export interface PageCertificate {
  readonly cert: string | Buffer;
  readonly key: string | Buffer;
  /** Clients may present a certificate signed by it; client certificates are not requested when absent. */
  readonly clientCa: string | Buffer | undefined;
}

export interface PageTls {
  readonly minVersion: 'TLSv1.2' | 'TLSv1.3';
  /** In OpenSSL's format. */
  readonly ciphers: string;
  current(): PageCertificate;
  /** Called with each new certificate. */
  onChange(listener: (certificate: PageCertificate) => void): void;
}

/** A client that presented a certificate signed by the client CA. */
export interface ClientCertificate {
  readonly commonName: string;
  readonly organizations: readonly string[];
}

interface ListenerOptions {
  readonly logger: Logger;
  readonly tls: PageTls | undefined;
}

const requestMsMax = 10_000;
const handshakeMsMax = 10_000;
const keepAliveMs = 30_000;
/** A connection without traffic for this long, or twice that while a response is not read, is closed. */
const idleMsMax = 15_000;
/** Interval of the check for slow requests; Node.js' default is 30 s. */
const checkIntervalMs = 1_000;
/** Maximum number of pipelined requests per connection: regular clients do not pipeline. */
const waitingMax = 16;
const connectionsMax = 256;
/** A handshake costs about a millisecond of the main thread, which also renews the lease, so their rate is limited. */
const handshakesPerSecondMax = 50;
const oneSecondMs = 1_000;
const headerBytesMax = 8 * 1024;
/** Tokens of identity providers with many groups are long. */
const secureHeaderBytesMax = 32 * 1024;
/** Time for responses in flight at shutdown. */
const closeGraceMs = 1_000;

const limits = {
  requestTimeout: requestMsMax,
  headersTimeout: requestMsMax,
  connectionsCheckingInterval: checkIntervalMs,
};

export class PageListener {
  readonly #server: Server | TlsServer;
  /** Includes sockets during the handshake, which the HTTP server does not track yet. */
  readonly #sockets = new Set<Socket>();
  readonly #logger: Logger;

  constructor({ logger, tls }: ListenerOptions, serve: RequestListener) {
    this.#logger = logger;
    this.#server = tls === undefined ? createServer({ ...limits, maxHeaderSize: headerBytesMax }) : secureServer(tls);
    this.#server.on('request', limitPipelining(serve));
    this.#server.timeout = idleMsMax;
    this.#server.keepAliveTimeout = keepAliveMs;
    this.#server.maxConnections = connectionsMax;
    this.#server.on('connection', (socket: Socket) => this.#track(socket));
    if (tls !== undefined) this.#configureTls(this.#server, tls);
  }

  /** Resolves with the actual port; rejects if the address is not available. */
  async listen({ host, port }: { readonly host: string; readonly port: number }): Promise<number> {
    await listening(this.#server, { port, ...(host === '' ? {} : { host }) });
    // For example, no file descriptors left. Probes then fail by themselves; a crash would not help.
    this.#server.on('error', (error) => this.#logger.error({ err: error }, 'page server error'));
    const bound = this.#server.address();
    return typeof bound === 'object' && bound !== null ? bound.port : port;
  }

  /** Stops listening and closes every connection. Resolves after all are closed. */
  close(): Promise<void> {
    return new Promise((resolve, reject) => {
      const graceTimer = setTimeout(() => this.#destroySockets(), closeGraceMs);
      this.#server.close((error) => {
        clearTimeout(graceTimer);
        if (error === undefined) resolve();
        else reject(error);
      });
      this.#server.closeIdleConnections();
    });
  }

  #track(socket: Socket): void {
    this.#sockets.add(socket);
    socket.once('close', () => this.#sockets.delete(socket));
  }

  #destroySockets(): void {
    for (const socket of this.#sockets) socket.destroy();
  }

  #configureTls(server: Server | TlsServer, tls: PageTls): void {
    limitHandshakes(server);
    server.on('tlsClientError', (error: Error) => this.#logger.debug({ err: error }, 'TLS handshake failed'));
    let { clientCa } = tls.current();
    tls.onChange((certificate) => {
      if ('setSecureContext' in server) server.setSecureContext(contextOf(certificate, tls));
      // A connection keeps the client identity that was verified with the CA at its handshake.
      if (!sameBytes(clientCa, certificate.clientCa)) this.#destroySockets();
      ({ clientCa } = certificate);
    });
  }
}

function secureServer(tls: PageTls): TlsServer {
  const certificate = tls.current();
  const options = {
    ...limits,
    ...contextOf(certificate, tls),
    maxHeaderSize: secureHeaderBytesMax,
    handshakeTimeout: handshakeMsMax,
    ALPNProtocols: ['http/1.1'],
    // A client without a certificate, or with one of another CA, may still have a token.
    requestCert: certificate.clientCa !== undefined,
    rejectUnauthorized: false,
  };
  return createTlsServer(options);
}

function contextOf({ cert, key, clientCa }: PageCertificate, { minVersion, ciphers }: PageTls) {
  return {
    cert,
    key,
    minVersion,
    ciphers,
    honorCipherOrder: true,
    // A resumed session would bring its client certificate along without verification. And a renegotiation may present
    // another certificate, which Node.js would accept because of the first.
    secureOptions: constants.SSL_OP_NO_TICKET | constants.SSL_OP_NO_RENEGOTIATION,
    ...(clientCa === undefined ? {} : { ca: clientCa }),
  };
}

/** Each unanswered request is kept in memory, and a connection could pipeline an unlimited number of them. */
function limitPipelining(serve: RequestListener): RequestListener {
  const waiting = new WeakMap<Socket, number>();
  return (request, response) => {
    const { socket } = request;
    const count = waiting.get(socket) ?? 0;
    if (count === waitingMax) return void socket.destroy();
    waiting.set(socket, count + 1);
    response.once('close', () => waiting.set(socket, (waiting.get(socket) ?? 1) - 1));
    serve(request, response);
  };
}

/** After this second's share of handshakes further connections are closed when accepted, until the next second. */
function limitHandshakes(server: Server | TlsServer): void {
  let started = 0;
  server.on('connection', () => {
    started += 1;
    if (started === 1) setTimeout(next, oneSecondMs).unref();
    if (started === handshakesPerSecondMax) server.maxConnections = 0;
  });
  const next = (): void => {
    started = 0;
    server.maxConnections = connectionsMax;
  };
}

/** Undefined without a certificate, if it is not signed by the client CA, or if it has expired. */
export function clientCertificateOf(socket: Socket): ClientCertificate | undefined {
  if (!(socket instanceof TLSSocket) || !socket.authorized) return undefined;
  const { subject, valid_to: validTo } = socket.getPeerCertificate() as Partial<PeerCertificate>;
  if (subject === undefined || validTo === undefined) return undefined;
  // The handshake checked the expiry, but a connection may outlive the certificate.
  if (Date.parse(validTo) < Date.now()) return undefined;
  const organizations = subject.O ?? [];
  // Of several names the last one counts (Go's `pkix.Name`).
  const commonName = [subject.CN].flat().at(-1) ?? '';
  return { commonName, organizations: [organizations].flat() };
}

function listening(
  server: Server | TlsServer,
  where: { readonly port: number; readonly host?: string },
): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(where, () => {
      server.removeListener('error', reject);
      resolve();
    });
  });
}
