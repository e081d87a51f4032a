import { createServer as createTcpServer, type AddressInfo, type Server, type Socket } from 'node:net';
import {
  createServer as createTlsServer,
  type SecureContextOptions,
  type TlsOptions,
  Server as TlsServer,
  TLSSocket,
} from 'node:tls';

export interface RawRequest {
  readonly method: string;
  /** Including the query. */
  readonly path: string;
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  /** Number of its connection: 1 is the first. */
  readonly connection: number;
  readonly atMs: number;
  /** For misbehaving servers. */
  readonly socket: Socket;
  /** Sends a complete response. */
  answer(code: number, body: unknown, headers?: Readonly<Record<string, string>>): void;
  /** Sends the headers of a chunked response; its body is sent with {@link chunk}. */
  open(headers?: Readonly<Record<string, string>>): void;
  chunk(bytes: string | Buffer): void;
  /** Sends the last chunk. */
  end(): void;
}

export type RawHandler = (request: RawRequest) => void;

/** An HTTP/1.1 server on raw sockets that can violate the protocol: the client must handle such servers too. */
export class RawHttpServer {
  readonly requests: RawRequest[] = [];
  readonly sockets = new Set<Socket>();
  connections = 0;
  handler: RawHandler = (request) => request.answer(500, 'nothing is scripted');
  readonly #server: Server;
  readonly #scheme: 'http' | 'https';

  constructor(tls?: TlsOptions) {
    const serve = (socket: Socket): void => this.#serve(socket);
    this.#server = tls === undefined ? createTcpServer(serve) : createTlsServer(tls, serve);
    this.#scheme = tls === undefined ? 'http' : 'https';
  }

  /** Listens on a free port by default. */
  async start(port = 0): Promise<void> {
    await new Promise<void>((resolve) => {
      this.#server.listen(port, '127.0.0.1', resolve);
    });
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  get url(): string {
    return `${this.#scheme}://127.0.0.1:${this.port}`;
  }

  /** Sets another certificate for new connections. */
  present(certificate: SecureContextOptions): void {
    if (this.#server instanceof TlsServer) this.#server.setSecureContext(certificate);
  }

  /** Resets every connection, as in a crash. */
  reset(): void {
    for (const socket of this.sockets) {
      if (socket instanceof TLSSocket) socket.destroy();
      else socket.resetAndDestroy();
    }
  }

  async stop(): Promise<void> {
    for (const socket of this.sockets) socket.destroy();
    await new Promise<void>((resolve) => {
      this.#server.close(() => resolve());
    });
  }

  #serve(socket: Socket): void {
    this.connections += 1;
    const connection = this.connections;
    this.sockets.add(socket);
    socket.on('close', () => this.sockets.delete(socket));
    // The client may close the connection: that is part of the test.
    socket.on('error', () => socket.destroy());
    let bytes = Buffer.alloc(0);
    socket.on('data', (chunk: Buffer) => {
      bytes = Buffer.concat([bytes, chunk]);
      for (let taken = parseRequest(bytes); taken !== undefined; taken = parseRequest(bytes)) {
        bytes = bytes.subarray(taken.length);
        this.#handle({ ...taken.parts, connection, atMs: performance.now(), socket, ...answers(socket) });
      }
    });
  }

  #handle(request: RawRequest): void {
    this.requests.push(request);
    this.handler(request);
  }
}

type Parts = Pick<RawRequest, 'method' | 'path' | 'url' | 'headers' | 'body'>;

function parseRequest(bytes: Buffer): { readonly parts: Parts; readonly length: number } | undefined {
  const headEnd = bytes.indexOf('\r\n\r\n');
  if (headEnd < 0) return undefined;
  const [first = '', ...lines] = bytes.subarray(0, headEnd).toString('latin1').split('\r\n');
  const [method = '', path = ''] = first.split(' ');
  const headers = Object.fromEntries(
    lines.map((line) => [line.slice(0, line.indexOf(':')).toLowerCase(), line.slice(line.indexOf(':') + 1).trim()]),
  );
  const length = headEnd + 4 + Number(headers['content-length'] ?? 0);
  if (bytes.length < length) return undefined;
  const body = bytes.subarray(headEnd + 4, length).toString('utf8');
  return { parts: { method, path, url: new URL(path, 'http://server'), headers, body }, length };
}

function answers(socket: Socket): Pick<RawRequest, 'answer' | 'open' | 'chunk' | 'end'> {
  return {
    answer: (code, body, headers = {}) => {
      const text = typeof body === 'string' ? body : JSON.stringify(body);
      const type = typeof body === 'string' ? 'text/plain' : 'application/json';
      const length = String(Buffer.byteLength(text));
      socket.write(head(code, { 'content-type': type, 'content-length': length, ...headers }) + text);
    },
    open: (headers = {}) => {
      socket.write(head(200, { 'content-type': 'application/json', 'transfer-encoding': 'chunked', ...headers }));
    },
    chunk: (bytes) => {
      const content = Buffer.from(bytes);
      socket.write(Buffer.concat([Buffer.from(`${content.length.toString(16)}\r\n`), content, Buffer.from('\r\n')]));
    },
    end: () => {
      socket.write('0\r\n\r\n');
    },
  };
}

function head(code: number, headers: Readonly<Record<string, string>>): string {
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  return `HTTP/1.1 ${code} Scripted\r\n${lines.join('')}\r\n`;
}
