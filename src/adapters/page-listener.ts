// The sockets below the pages: HTTP or HTTPS, with a limit to everything that somebody who asks could use up.
import { createServer, type RequestListener, type Server } from 'node:http';
import { createServer as createTlsServer, type Server as TlsServer } from 'node:https';
import { constants } from 'node:crypto';
import type { Socket } from 'node:net';
import { type PeerCertificate, TLSSocket } from 'node:tls';
import type { Logger } from '../ports/logger.ts';

/** What a TLS server shows, and what it asks of clients. PEM. */
export interface PageCertificate {
  readonly cert: string | Buffer;
  readonly key: string | Buffer;
  /** Clients may show a certificate of these; nobody is asked for one when absent. */
  readonly clientCa: string | Buffer | undefined;
}

export interface PageTls {
  readonly minVersion: 'TLSv1.2' | 'TLSv1.3';
  /** In OpenSSL's words. */
  readonly ciphers: string;
  current(): PageCertificate;
  /** Calls back with each one that takes the place of the last. */
  onChange(listener: (certificate: PageCertificate) => void): void;
}

/** Whoever has shown a certificate that one of ours has signed. */
export interface ClientCertificate {
  readonly commonName: string;
  readonly organizations: readonly string[];
}

export interface ListenerOptions {
  readonly logger: Logger;
  readonly tls: PageTls | undefined;
}

const requestMsMax = 10_000;
const handshakeMsMax = 10_000;
const keepAliveMs = 30_000;
/** A connection on which nothing moves for this long, or twice that where an answer is not read, is ended in the middle of it. */
const standstillMsMax = 15_000;
/** Node.js would look for requests that take too long every half minute. */
const lookMs = 1_000;
/** Answers that one connection may wait for: nobody who means well asks on without waiting. */
const waitingMax = 16;
const connectionsMax = 256;
/** A handshake costs the thread that leads a millisecond; one for each of these is all it gives away. */
const handshakesPerSecondMax = 50;
const oneSecondMs = 1_000;
const headerBytesMax = 8 * 1024;
/** Tokens of identity providers that name many groups are long. */
const secureHeaderBytesMax = 32 * 1024;
/** Answers under way when we close may take this long to leave. */
const closeGraceMs = 1_000;

const limits = { requestTimeout: requestMsMax, headersTimeout: requestMsMax, connectionsCheckingInterval: lookMs };

export class PageListener {
  readonly #server: Server | TlsServer;
  /** Those in the middle of a handshake too, of which the HTTP server does not know yet. */
  readonly #sockets = new Set<Socket>();
  readonly #logger: Logger;

  constructor({ logger, tls }: ListenerOptions, serve: RequestListener) {
    this.#logger = logger;
    this.#server = tls === undefined ? createServer({ ...limits, maxHeaderSize: headerBytesMax }) : secureServer(tls);
    this.#server.on('request', cuttingOffWhoHoards(serve));
    this.#server.timeout = standstillMsMax;
    this.#server.keepAliveTimeout = keepAliveMs;
    this.#server.maxConnections = connectionsMax;
    this.#server.on('connection', (socket: Socket) => this.#hold(socket));
    if (tls !== undefined) this.#watchOver(this.#server, tls);
  }

  /** Resolves with the port that was taken; rejects when it cannot be had. */
  async listen({ host, port }: { readonly host: string; readonly port: number }): Promise<number> {
    await listening(this.#server, { port, ...(host === '' ? {} : { host }) });
    // Running out of file descriptors, for one. Probes will fail by themselves; a crash would help nobody.
    this.#server.on('error', (error) => this.#logger.error({ err: error }, 'page server in trouble'));
    const taken = this.#server.address();
    return typeof taken === 'object' && taken !== null ? taken.port : port;
  }

  /** Stops listening and ends every connection. Resolves when nothing is left. */
  close(): Promise<void> {
    return new Promise((resolve, reject) => {
      const impatience = setTimeout(() => this.#cut(), closeGraceMs);
      this.#server.close((error) => {
        clearTimeout(impatience);
        if (error === undefined) resolve();
        else reject(error);
      });
      this.#server.closeIdleConnections();
    });
  }

  #hold(socket: Socket): void {
    this.#sockets.add(socket);
    socket.once('close', () => this.#sockets.delete(socket));
  }

  #cut(): void {
    for (const socket of this.#sockets) socket.destroy();
  }

  #watchOver(server: Server | TlsServer, tls: PageTls): void {
    limitHandshakes(server);
    server.on('tlsClientError', (error: Error) => this.#logger.debug({ err: error }, 'a TLS handshake failed'));
    let { clientCa } = tls.current();
    tls.onChange((certificate) => {
      if ('setSecureContext' in server) server.setSecureContext(contextOf(certificate, tls));
      // A connection knows its client by the authority that was there when it was made.
      if (!same(clientCa, certificate.clientCa)) this.#cut();
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
    // Whoever shows none, or one of others, may still have a token.
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
    // A session that is taken up again would bring its client's certificate along, whatever has become of that. And a
    // second handshake on a connection may show another certificate, which Node.js would believe for the sake of the first.
    secureOptions: constants.SSL_OP_NO_TICKET | constants.SSL_OP_NO_RENEGOTIATION,
    ...(clientCa === undefined ? {} : { ca: clientCa }),
  };
}

/** Each request that waits for its answer is kept in memory, and there is no end to those that a connection can bring. */
function cuttingOffWhoHoards(serve: RequestListener): RequestListener {
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

/** When a second has had its share the system turns away who comes, at no cost to us, until the next. */
function limitHandshakes(server: Server | TlsServer): void {
  let begun = 0;
  server.on('connection', () => {
    begun += 1;
    if (begun === 1) setTimeout(next, oneSecondMs).unref();
    if (begun === handshakesPerSecondMax) server.maxConnections = 0;
  });
  const next = (): void => {
    begun = 0;
    server.maxConnections = connectionsMax;
  };
}

/** Undefined where there is none, or it is nobody's that we know, or its time is up. */
export function clientCertificateOf(socket: Socket): ClientCertificate | undefined {
  if (!(socket instanceof TLSSocket) || !socket.authorized) return undefined;
  const { subject, valid_to: validTo } = socket.getPeerCertificate() as Partial<PeerCertificate>;
  if (subject === undefined || validTo === undefined) return undefined;
  // The handshake has looked at its time, but a connection may last.
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

function same(a: string | Buffer | undefined, b: string | Buffer | undefined): boolean {
  return a === b || (a !== undefined && b !== undefined && Buffer.from(a).equals(Buffer.from(b)));
}
