// A proxy between one client and its API server, over plain HTTP on loopback, that records the client's requests and their
// times: the writes of a process are verified on the wire, not in its log.
import {
  type ClientRequest,
  createServer,
  type IncomingMessage,
  request as httpRequest,
  type Server,
  type ServerResponse,
} from 'node:http';
import { request as httpsRequest } from 'node:https';
import type { AddressInfo } from 'node:net';

export interface RecordedRequest {
  readonly method: string;
  readonly path: string;
  readonly body: string;
  /** When the request was complete. */
  readonly atMs: number;
  /** When the response or the watch ended, or the client disconnected. */
  endedAtMs?: number;
  status?: number;
  /** Of the client. */
  readonly userAgent: string;
  /** Of the response. */
  contentType?: string;
}

interface Forwarded {
  readonly record: RecordedRequest;
  readonly bytes: Buffer;
}

export interface ProxyTarget {
  readonly url: string;
  /** PEM: verifies the server. */
  readonly ca?: string | undefined;
  /** Sent with every request: clients in Go send their own token on TLS only. */
  readonly token?: string;
}

export class RecordingProxy {
  readonly requests: RecordedRequest[] = [];
  /** Delay of a request before it is forwarded to the server. */
  delayMs: (request: RecordedRequest) => number = () => 0;
  /** Seconds of Retry-After with which a request is rejected (429) instead of being forwarded; undefined: forwarded. */
  rejectForSeconds: (request: RecordedRequest) => number | undefined = () => undefined;
  readonly #target: ProxyTarget;
  readonly #server: Server;
  readonly #timers = new Set<NodeJS.Timeout>();

  private constructor(target: ProxyTarget) {
    this.#target = target;
    this.#server = createServer((incoming, outgoing) => void this.#serve(incoming, outgoing));
  }

  static async start(target: ProxyTarget): Promise<RecordingProxy> {
    const proxy = new RecordingProxy(target);
    await new Promise<void>((resolve) => proxy.#server.listen(0, '127.0.0.1', resolve));
    return proxy;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** All requests except reads, in order of arrival. */
  get writes(): readonly RecordedRequest[] {
    return this.requests.filter(({ method }) => method !== 'GET');
  }

  async stop(): Promise<void> {
    for (const timer of this.#timers) clearTimeout(timer);
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  async #serve(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
    const bytes = await bytesOf(incoming).catch(() => undefined);
    if (bytes === undefined) return;
    const { method = '', url: path = '' } = incoming;
    const userAgent = incoming.headers['user-agent'] ?? '';
    const record: RecordedRequest = { method, path, body: bytes.toString(), atMs: performance.now(), userAgent };
    this.requests.push(record);
    outgoing.once('close', () => {
      record.endedAtMs = performance.now();
    });
    const delayMs = this.delayMs(record);
    if (delayMs > 0) await this.#pause(delayMs);
    if (outgoing.destroyed) return;
    const seconds = this.rejectForSeconds(record);
    if (seconds === undefined) this.#forward(incoming, outgoing, { record, bytes });
    else reject(outgoing, record, seconds);
  }

  #pause(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(() => {
        this.#timers.delete(timer);
        resolve();
      }, ms);
      this.#timers.add(timer);
    });
  }

  #forward(incoming: IncomingMessage, outgoing: ServerResponse, { record, bytes }: Forwarded): void {
    const upstream = this.#ask(incoming, record);
    upstream.on('error', () => outgoing.destroy());
    upstream.on('response', (answer) => {
      record.status = answer.statusCode ?? 0;
      record.contentType = answer.headers['content-type'] ?? '';
      outgoing.writeHead(record.status, answer.headers);
      outgoing.flushHeaders();
      answer.on('error', () => outgoing.destroy());
      answer.pipe(outgoing);
    });
    outgoing.once('close', () => upstream.destroy());
    upstream.end(bytes);
  }

  #ask(incoming: IncomingMessage, { method, path }: RecordedRequest): ClientRequest {
    const { url, ca, token } = this.#target;
    const { host: _, ...received } = incoming.headers;
    const headers = { ...received, ...(token === undefined ? {} : { authorization: `Bearer ${token}` }) };
    const send = url.startsWith('https:') ? httpsRequest : httpRequest;
    return send(`${url}${path}`, { method, headers, agent: false, ...(ca === undefined ? {} : { ca }) });
  }
}

function reject(outgoing: ServerResponse, record: RecordedRequest, seconds: number): void {
  record.status = 429;
  outgoing.writeHead(429, { 'content-type': 'text/plain', 'retry-after': String(seconds) });
  outgoing.end('Too many requests, please try again later.');
}

async function bytesOf(incoming: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of incoming) chunks.push(Buffer.from(chunk as Uint8Array));
  return Buffer.concat(chunks);
}
