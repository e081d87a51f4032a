// The pages for Prometheus, the kubelet and users: plain HTTP or TLS, answered from memory. A page is a route, so that
// further pages (explain, the dashboard's data) need no change here. Pages are read-only unless a route handles other
// methods.
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import type { Logger } from '../ports/logger.ts';
import { type ClientCertificate, clientCertificateOf, PageListener, type PageTls } from './page-listener.ts';
import { isOwnHost } from './own-host.ts';
import { HttpPageStream, type PageStream } from './page-stream.ts';

/** An empty host listens on every interface; port 0 on a free port. */
interface HttpAddress {
  readonly host: string;
  readonly port: number;
}

export interface Answer {
  readonly status: number;
  readonly contentType: string;
  readonly body: string;
  /** In addition to the headers of every response. */
  readonly headers?: Readonly<Record<string, string>>;
}

/** A response whose body is written over time; the connection is closed at its end. */
export interface StreamAnswer extends Omit<Answer, 'body'> {
  /** Called when the headers are being sent. Keeps the stream, and returns at once. */
  open(stream: PageStream): void;
}

export interface Route {
  /** A path that ends with `/` also matches everything below it. The longest match wins. */
  readonly path: string;
  /** Headers of every response at this path, error responses included. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Must respond from memory: the client may be a liveness probe. An error becomes a 500. */
  answer(url: URL): Answer | Promise<Answer>;
  /** Answers GET in place of {@link answer}, which then is for HEAD. */
  stream?(url: URL): Answer | StreamAnswer;
  /** Handles POST and DELETE; without it they are rejected. */
  act?(request: ActRequest): Answer | Promise<Answer>;
}

export interface ActRequest {
  readonly method: 'POST' | 'DELETE';
  readonly url: URL;
  /** The parsed JSON body of a POST. Undefined for a DELETE. */
  readonly body: unknown;
}

export interface RequestInfo {
  readonly method: string;
  /** The path selects the page. */
  readonly url: URL;
  readonly authorization: string | undefined;
  /** The verified and unexpired client certificate, if one was presented. */
  clientCertificate(): ClientCertificate | undefined;
}

export type RequestFilter = (
  headers: IncomingHttpHeaders,
  info: RequestInfo,
) => Answer | undefined | Promise<Answer | undefined>;

interface HttpOptions {
  readonly address: HttpAddress;
  readonly routes: readonly Route[];
  /** Without TLS: names in the `Host` header of requests, beside those of {@link isOwnHost}. */
  readonly allowedHosts?: readonly string[];
  /** Authorizes requests before routing; when absent, all are allowed. Undefined allows the request, else the response rejects it. */
  readonly refuse?: RequestFilter;
  /** Defaults to plain HTTP. */
  readonly tls?: PageTls;
  readonly logger: Logger;
}

export interface RunningHttp {
  /** The address in use, with the actual port. */
  readonly address: HttpAddress;
  /** Stops listening and closes every connection. Resolves after all are closed. */
  close(): Promise<void>;
}

const bodyBytesMax = 1024 * 1024;

/** Listens and serves. Rejects if the address is not available. */
export async function startHttp(options: HttpOptions): Promise<RunningHttp> {
  const { address, logger, tls } = options;
  const streams = new Set<PageStream>();
  const listener = new PageListener({ logger, tls }, (request, response) => {
    serve(request, response, { ...options, streams }).catch((error: unknown) => {
      logger.error({ err: error }, 'failed to send response');
      response.destroy();
    });
  });
  const port = await listener.listen(address);
  const close = (): Promise<void> => {
    for (const stream of streams) stream.end();
    return listener.close();
  };
  return { address: { host: address.host, port }, close };
}

/** With the streams that are open. */
interface ServeOptions extends HttpOptions {
  readonly streams: Set<PageStream>;
}

/** TLS, and the authorization filter. */
export interface SecurePages {
  readonly tls: PageTls;
  readonly refuse: RequestFilter;
}

interface ObservabilityOptions {
  readonly metrics: {
    readonly address: HttpAddress | 'off';
    readonly routes: readonly Route[];
    /** Plain HTTP without authorization when absent. On a shared address it also applies to the health pages. */
    readonly secure?: SecurePages | undefined;
  };
  readonly health: { readonly address: HttpAddress | 'off'; readonly routes: readonly Route[] };
  /** See {@link isOwnHost}. */
  readonly allowedHosts: readonly string[];
  readonly logger: Logger;
}

export interface RunningObservability {
  /** Undefined if disabled. */
  readonly metricsAddress: HttpAddress | undefined;
  readonly healthAddress: HttpAddress | undefined;
  close(): Promise<void>;
}

/**
 * Starts the servers of both sets of pages, on one listener if both addresses are equal. Rejects, with everything closed,
 * if an address is not available.
 */
export async function startObservability(options: ObservabilityOptions): Promise<RunningObservability> {
  const { metrics, health } = options;
  if (sameAddress(metrics.address, health.address)) {
    const shared = await startUnlessOff({ ...metrics, routes: [...metrics.routes, ...health.routes] }, options);
    return running(shared, shared);
  }
  const first = await startUnlessOff(metrics, options);
  try {
    return running(first, await startUnlessOff(health, options));
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
  { allowedHosts, logger }: ObservabilityOptions,
): Promise<RunningHttp | undefined> {
  if (address === 'off') return Promise.resolve(undefined);
  return startHttp({ address, routes, allowedHosts, logger, ...secure });
}

function sameAddress(a: HttpAddress | 'off', b: HttpAddress | 'off'): boolean {
  return a !== 'off' && b !== 'off' && a.host === b.host && a.port === b.port;
}

async function serve(request: IncomingMessage, response: ServerResponse, options: ServeOptions): Promise<void> {
  const answer = await respondTo(request, options);
  response.writeHead(answer.status, {
    'content-type': answer.contentType,
    ...('body' in answer ? { 'content-length': Buffer.byteLength(answer.body) } : { connection: 'close' }),
    'cache-control': 'no-cache, private',
    'x-content-type-options': 'nosniff',
    ...(answer.status === 405 ? { allow: 'GET, HEAD' } : {}),
    ...headersAt(request, options.routes),
    ...answer.headers,
  });
  if ('body' in answer) response.end(request.method === 'HEAD' ? undefined : answer.body);
  else openStream(answer, response, options.streams);
  // An unread body would block the connection: draining it costs less than a new connection.
  request.resume();
}

function openStream(answer: StreamAnswer, response: ServerResponse, streams: Set<PageStream>): void {
  const stream = new HttpPageStream(response);
  streams.add(stream);
  stream.onClose(() => streams.delete(stream));
  response.flushHeaders();
  answer.open(stream);
}

function headersAt(request: IncomingMessage, routes: readonly Route[]): Route['headers'] {
  const url = parseUrl(request.url ?? '');
  return url === undefined ? undefined : routeFor(url.pathname, routes)?.headers;
}

async function respondTo(request: IncomingMessage, options: HttpOptions): Promise<Answer | StreamAnswer> {
  const url = parseUrl(request.url ?? '');
  if (url === undefined) return textAnswer(400, 'invalid path\n');
  if (isMisdirected(request, options)) return misdirected;
  const rejection = await options.refuse?.(request.headers, requestInfoOf(request, url));
  return rejection ?? respondAt(url, request, options);
}

const misdirected = textAnswer(
  421,
  'host: must be localhost, a name or an address of this server, or an allowed host\n',
);

/** Without TLS: a certificate proves the name otherwise. */
function isMisdirected({ headers: { host }, socket }: IncomingMessage, options: HttpOptions): boolean {
  const { address, allowedHosts = [], tls } = options;
  // A browser always sends the header.
  if (host === undefined || tls !== undefined) return false;
  return !isOwnHost(host, { localAddress: socket.localAddress, names: [address.host, ...allowedHosts] });
}

function requestInfoOf(request: IncomingMessage, url: URL): RequestInfo {
  return {
    method: request.method ?? '',
    url,
    authorization: request.headers.authorization,
    clientCertificate: () => clientCertificateOf(request.socket),
  };
}

async function respondAt(url: URL, request: IncomingMessage, options: HttpOptions): Promise<Answer | StreamAnswer> {
  const { routes, logger } = options;
  const route = routeFor(url.pathname, routes);
  if (!isRead(request) && route?.act === undefined) return textAnswer(405, 'method not allowed; accepted: GET, HEAD\n');
  if (route === undefined) return textAnswer(404, notFoundText(options));
  try {
    if (!isRead(request)) return await act(route, url, request);
    if (request.method === 'GET' && route.stream !== undefined) return route.stream(url);
    return await route.answer(url);
  } catch (error) {
    logger.error({ path: route.path, err: error }, 'page handler failed');
    return textAnswer(500, 'internal error\n');
  }
}

function isRead({ method }: IncomingMessage): boolean {
  return method === 'GET' || method === 'HEAD';
}

async function act(route: Route, url: URL, request: IncomingMessage): Promise<Answer> {
  const { method } = request;
  if (method !== 'POST' && method !== 'DELETE') return methodNotAllowed;
  const read: Body = method === 'POST' ? await readJson(request) : { value: undefined };
  if ('refusal' in read) return read.refusal;
  return (await route.act?.({ method, url, body: read.value })) ?? methodNotAllowed;
}

const methodNotAllowed = textAnswer(405, 'method not allowed; accepted: GET, HEAD, POST, DELETE\n');

type Body = { readonly value: unknown } | { readonly refusal: Answer };

/** CSRF protection: a foreign page in a browser can send a form here, but no JSON without a preflight request. */
async function readJson(request: IncomingMessage): Promise<Body> {
  const type = request.headers['content-type'] ?? '';
  if (!/^application\/json(?:\s*;|$)/i.test(type)) {
    return { refusal: textAnswer(415, 'content-type: must be application/json\n') };
  }
  const text = await readText(request);
  if (text === undefined) return { refusal: textAnswer(413, `the body is larger than ${bodyBytesMax} bytes\n`) };
  return parseJson(text) ?? { refusal: textAnswer(400, 'the body is not JSON\n') };
}

/** Undefined above the limit. */
async function readText(request: IncomingMessage): Promise<string | undefined> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request) {
    if (!Buffer.isBuffer(chunk)) continue;
    bytes += chunk.length;
    if (bytes > bodyBytesMax) return undefined;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
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

/** With TLS, unauthenticated clients may read always-allowed paths, so the response does not list the pages. */
function notFoundText({ routes, tls }: HttpOptions): string {
  if (tls !== undefined) return 'not found\n';
  return `not found; available paths: ${routes.map((route) => route.path).join(' ')}\n`;
}

/** A plain text response in the format of Kubernetes' own pages. */
export function textAnswer(status: number, body: string): Answer {
  return { status, contentType: 'text/plain; charset=utf-8', body };
}
