// The pages that Prometheus, the kubelet and people look at: plain HTTP, answered from memory. A page is a route, so that
// further ones (explain, the dashboard's data) need nothing new here. Pages are read only, unless a route says what else
// may be asked of it.
import {
  createServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type Server,
  type ServerResponse,
} from 'node:http';
import type { Logger } from '../ports/logger.ts';

/** An empty host is every interface; port 0 takes a free one. */
export interface HttpAddress {
  readonly host: string;
  readonly port: number;
}

export interface Answer {
  readonly status: number;
  readonly contentType: string;
  readonly body: string;
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

export interface HttpOptions {
  readonly address: HttpAddress;
  readonly routes: readonly Route[];
  /** Who may ask at all; everybody when absent. Undefined: this request may; else why not. */
  readonly refuse?: (headers: IncomingHttpHeaders) => Answer | undefined;
  readonly logger: Logger;
}

export interface RunningHttp {
  /** Where it really listens: the port is the one that was taken. */
  readonly address: HttpAddress;
  /** Stops listening and ends every connection. Resolves when nothing is left. */
  close(): Promise<void>;
}

const requestMsMax = 10_000;
const keepAliveMs = 30_000;
const connectionsMax = 256;
const headerBytesMax = 8 * 1024;
const bodyBytesMax = 1024 * 1024;
/** Answers under way when we close may take this long to leave. */
const closeGraceMs = 1_000;

/** Listens and serves. Rejects when the address cannot be taken. */
export async function startHttp(options: HttpOptions): Promise<RunningHttp> {
  const { address, logger } = options;
  const server = createServer(
    { requestTimeout: requestMsMax, headersTimeout: requestMsMax, maxHeaderSize: headerBytesMax },
    (request, response) => {
      serve(request, response, options).catch((error: unknown) => {
        logger.error({ err: error }, 'answer could not be sent');
        response.destroy();
      });
    },
  );
  server.keepAliveTimeout = keepAliveMs;
  server.maxConnections = connectionsMax;
  await listen(server, address);
  // Running out of file descriptors, for one. Probes will fail by themselves; a crash would help nobody.
  server.on('error', (error) => logger.error({ err: error }, 'page server in trouble'));
  return { address: takenAddress(server, address), close: () => close(server) };
}

export interface ObservabilityOptions {
  readonly metrics: { readonly address: HttpAddress | 'off'; readonly routes: readonly Route[] };
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
    const shared = await startUnlessOff(metrics.address, [...metrics.routes, ...health.routes], logger);
    return running(shared, shared);
  }
  const first = await startUnlessOff(metrics.address, metrics.routes, logger);
  try {
    return running(first, await startUnlessOff(health.address, health.routes, logger));
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
  address: HttpAddress | 'off',
  routes: readonly Route[],
  logger: Logger,
): Promise<RunningHttp | undefined> {
  return address === 'off' ? Promise.resolve(undefined) : startHttp({ address, routes, logger });
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
  });
  response.end(request.method === 'HEAD' ? undefined : answer.body);
  // A body that nobody reads would keep the connection: reading it to the end costs less than a new one.
  request.resume();
}

async function answerTo(request: IncomingMessage, options: HttpOptions): Promise<Answer> {
  const refused = options.refuse?.(request.headers);
  if (refused !== undefined) return refused;
  const url = parseUrl(request.url ?? '');
  return url === undefined ? textAnswer(400, 'not a path\n') : answerAt(url, request, options);
}

async function answerAt(url: URL, request: IncomingMessage, { routes, logger }: HttpOptions): Promise<Answer> {
  const route = routeFor(url.pathname, routes);
  if (!isRead(request) && route?.act === undefined) return textAnswer(405, 'only GET and HEAD are answered\n');
  if (route === undefined) return textAnswer(404, notFoundText(routes));
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

function notFoundText(routes: readonly Route[]): string {
  return `not found; there is ${routes.map((route) => route.path).join(' ')}\n`;
}

/** A plain text answer, the way Kubernetes' own pages are sent. */
export function textAnswer(status: number, body: string): Answer {
  return { status, contentType: 'text/plain; charset=utf-8', body };
}

function listen(server: Server, { host, port }: HttpAddress): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen({ port, ...(host === '' ? {} : { host }) }, () => {
      server.removeListener('error', reject);
      resolve();
    });
  });
}

function takenAddress(server: Server, wanted: HttpAddress): HttpAddress {
  const taken = server.address();
  return typeof taken === 'object' && taken !== null ? { host: wanted.host, port: taken.port } : wanted;
}

function close(server: Server): Promise<void> {
  return new Promise((resolve, reject) => {
    const impatience = setTimeout(() => server.closeAllConnections(), closeGraceMs);
    server.close((error) => {
      clearTimeout(impatience);
      if (error === undefined) resolve();
      else reject(error);
    });
    server.closeIdleConnections();
  });
}
