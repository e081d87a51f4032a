// The pages that Prometheus, the kubelet and people look at: plain HTTP or TLS, answered from memory. A page is a route,
// so that further ones (explain, the dashboard's data) need nothing new here. Pages are read only, unless a route says
// what else may be asked of it.
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import type { Logger } from '../ports/logger.ts';
import { type ClientCertificate, clientCertificateOf, PageListener, type PageTls } from './page-listener.ts';

/** An empty host is every interface; port 0 takes a free one. */
export interface HttpAddress {
  readonly host: string;
  readonly port: number;
}

export interface Answer {
  readonly status: number;
  readonly contentType: string;
  readonly body: string;
  /** Beside those that every answer has. */
  readonly headers?: Readonly<Record<string, string>>;
}

export interface Route {
  /** A path that ends with `/` also answers everything below it. The longest match wins. */
  readonly path: string;
  /** Must answer from memory: who waits here may be a probe that restarts us. What it throws becomes a 500. */
  answer(url: URL): Answer | Promise<Answer>;
  /** What POST and DELETE do here; they are refused when absent. */
  act?(request: ActRequest): Answer | Promise<Answer>;
}

export interface ActRequest {
  readonly method: 'POST' | 'DELETE';
  readonly url: URL;
  /** Of a POST: JSON, read. Undefined for a DELETE. */
  readonly body: unknown;
}

export interface Asking {
  readonly method: string;
  /** Its path is what a page is found by. */
  readonly url: URL;
  readonly authorization: string | undefined;
  /** Of who asks, where it was shown and is valid now. */
  clientCertificate(): ClientCertificate | undefined;
}

export type Refuse = (headers: IncomingHttpHeaders, asking: Asking) => Answer | undefined | Promise<Answer | undefined>;

export interface HttpOptions {
  readonly address: HttpAddress;
  readonly routes: readonly Route[];
  /** Who may ask at all; everybody when absent. Undefined: this request may; else why not. Asked before a page is looked for. */
  readonly refuse?: Refuse;
  /** Plain HTTP when absent. */
  readonly tls?: PageTls;
  readonly logger: Logger;
}

export interface RunningHttp {
  /** Where it really listens: the port is the one that was taken. */
  readonly address: HttpAddress;
  /** Stops listening and ends every connection. Resolves when nothing is left. */
  close(): Promise<void>;
}

const bodyBytesMax = 1024 * 1024;

/** Listens and serves. Rejects when the address cannot be taken. */
export async function startHttp(options: HttpOptions): Promise<RunningHttp> {
  const { address, logger, tls } = options;
  const listener = new PageListener({ logger, tls }, (request, response) => {
    serve(request, response, options).catch((error: unknown) => {
      logger.error({ err: error }, 'answer could not be sent');
      response.destroy();
    });
  });
  const port = await listener.listen(address);
  return { address: { host: address.host, port }, close: () => listener.close() };
}

/** TLS, and who may read. */
export interface SecurePages {
  readonly tls: PageTls;
  readonly refuse: Refuse;
}

export interface ObservabilityOptions {
  readonly metrics: {
    readonly address: HttpAddress | 'off';
    readonly routes: readonly Route[];
    /** For everybody, as plain HTTP, when absent. On a shared address it is for the other pages, too. */
    readonly secure?: SecurePages | undefined;
  };
  readonly health: { readonly address: HttpAddress | 'off'; readonly routes: readonly Route[] };
  readonly logger: Logger;
}

export interface RunningObservability {
  /** Undefined where switched off. */
  readonly metricsAddress: HttpAddress | undefined;
  readonly healthAddress: HttpAddress | undefined;
  close(): Promise<void>;
}

/** Both sets of pages, on one listener where both addresses are the same. Rejects, with nothing left open, when one cannot be taken. */
export async function startObservability(options: ObservabilityOptions): Promise<RunningObservability> {
  const { metrics, health, logger } = options;
  if (sameAddress(metrics.address, health.address)) {
    const shared = await startUnlessOff({ ...metrics, routes: [...metrics.routes, ...health.routes] }, logger);
    return running(shared, shared);
  }
  const first = await startUnlessOff(metrics, logger);
  try {
    return running(first, await startUnlessOff(health, logger));
  } catch (error) {
    await first?.close();
    throw error;
  }
}

function running(metrics: RunningHttp | undefined, health: RunningHttp | undefined): RunningObservability {
  const servers = [...new Set([metrics, health])].filter((server) => server !== undefined);
  return {
    metricsAddress: metrics?.address,
    healthAddress: health?.address,
    close: async () => {
      await Promise.all(servers.map((server) => server.close()));
    },
  };
}

function startUnlessOff(
  { address, routes, secure }: ObservabilityOptions['metrics'],
  logger: Logger,
): Promise<RunningHttp | undefined> {
  return address === 'off' ? Promise.resolve(undefined) : startHttp({ address, routes, logger, ...secure });
}

function sameAddress(a: HttpAddress | 'off', b: HttpAddress | 'off'): boolean {
  return a !== 'off' && b !== 'off' && a.host === b.host && a.port === b.port;
}

async function serve(request: IncomingMessage, response: ServerResponse, options: HttpOptions): Promise<void> {
  const answer = await answerTo(request, options);
  response.writeHead(answer.status, {
    'content-type': answer.contentType,
    'content-length': Buffer.byteLength(answer.body),
    'cache-control': 'no-cache, private',
    'x-content-type-options': 'nosniff',
    ...(answer.status === 405 ? { allow: 'GET, HEAD' } : {}),
    ...answer.headers,
  });
  response.end(request.method === 'HEAD' ? undefined : answer.body);
  // A body that nobody reads would keep the connection: reading it to the end costs less than a new one.
  request.resume();
}

async function answerTo(request: IncomingMessage, options: HttpOptions): Promise<Answer> {
  const url = parseUrl(request.url ?? '');
  if (url === undefined) return textAnswer(400, 'not a path\n');
  const refused = await options.refuse?.(request.headers, askingOf(request, url));
  return refused ?? answerAt(url, request, options);
}

function askingOf(request: IncomingMessage, url: URL): Asking {
  return {
    method: request.method ?? '',
    url,
    authorization: request.headers.authorization,
    clientCertificate: () => clientCertificateOf(request.socket),
  };
}

async function answerAt(url: URL, request: IncomingMessage, options: HttpOptions): Promise<Answer> {
  const { routes, logger } = options;
  const route = routeFor(url.pathname, routes);
  if (!isRead(request) && route?.act === undefined) return textAnswer(405, 'only GET and HEAD are answered\n');
  if (route === undefined) return textAnswer(404, notFoundText(options));
  try {
    return isRead(request) ? await route.answer(url) : await act(route, url, request);
  } catch (error) {
    logger.error({ path: route.path, err: error }, 'page failed');
    return textAnswer(500, 'internal error\n');
  }
}

function isRead({ method }: IncomingMessage): boolean {
  return method === 'GET' || method === 'HEAD';
}

async function act(route: Route, url: URL, request: IncomingMessage): Promise<Answer> {
  const { method } = request;
  if (method !== 'POST' && method !== 'DELETE') return notAnswered;
  const read: Body = method === 'POST' ? await readJson(request) : { value: undefined };
  if ('refusal' in read) return read.refusal;
  return (await route.act?.({ method, url, body: read.value })) ?? notAnswered;
}

const notAnswered = textAnswer(405, 'only GET, HEAD, POST and DELETE are answered\n');

type Body = { readonly value: unknown } | { readonly refusal: Answer };

/** A page of somebody else's that a browser shows may send a form here, but no JSON without asking first. */
async function readJson(request: IncomingMessage): Promise<Body> {
  const type = request.headers['content-type'] ?? '';
  if (!/^application\/json(?:\s*;|$)/i.test(type)) {
    return { refusal: textAnswer(415, 'content-type: accepted: application/json\n') };
  }
  const text = await readText(request);
  if (text === undefined) return { refusal: textAnswer(413, `more than ${bodyBytesMax} bytes\n`) };
  return parseJson(text) ?? { refusal: textAnswer(400, 'the body is not JSON\n') };
}

/** Undefined where there is too much of it. */
async function readText(request: IncomingMessage): Promise<string | undefined> {
  const pieces: Buffer[] = [];
  let bytes = 0;
  for await (const piece of request) {
    if (!Buffer.isBuffer(piece)) continue;
    bytes += piece.length;
    if (bytes > bodyBytesMax) return undefined;
    pieces.push(piece);
  }
  return Buffer.concat(pieces).toString('utf8');
}

function parseJson(text: string): { readonly value: unknown } | undefined {
  try {
    return { value: JSON.parse(text) };
  } catch {
    return undefined;
  }
}

function parseUrl(target: string): URL | undefined {
  return target.startsWith('/') ? (URL.parse(`http://localhost${target}`) ?? undefined) : undefined;
}

function routeFor(path: string, routes: readonly Route[]): Route | undefined {
  const matching = routes.filter(
    (route) => route.path === path || (route.path.endsWith('/') && path.startsWith(route.path)),
  );
  return matching.sort((a, b) => b.path.length - a.path.length)[0];
}

/** Paths that everybody may read need not be pages, and whoever asks for one of those is not told what the pages are. */
function notFoundText({ routes, tls }: HttpOptions): string {
  if (tls !== undefined) return 'not found\n';
  return `not found; there is ${routes.map((route) => route.path).join(' ')}\n`;
}

/** A plain text answer, the way Kubernetes' own pages are sent. */
export function textAnswer(status: number, body: string): Answer {
  return { status, contentType: 'text/plain; charset=utf-8', body };
}
