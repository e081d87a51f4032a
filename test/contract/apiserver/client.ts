/** A client with access to raw requests and raw watch lines. */
import assert from 'node:assert/strict';
import { after } from 'node:test';
import { Agent, request } from 'undici';
import type { ApiServerOptions } from '../../../src/hollow-cluster/apiserver/http/api-server.ts';
import { type Backend, startBackend } from './backend.ts';

// Responses are accessed field by field, and a wrong type fails the test.
// oxlint-disable-next-line typescript/no-explicit-any
export type Json = any;

export interface ApiResponse {
  readonly code: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly bytes: Buffer;
  readonly text: string;
  readonly body: Json;
}

interface RequestOptions {
  readonly body?: unknown;
  readonly type?: string | null;
  readonly accept?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

export const mergePatch = 'application/merge-patch+json';
export const strategicPatch = 'application/strategic-merge-patch+json';
export const jsonPatch = 'application/json-patch+json';
export const tableAccept = 'application/json;as=Table;v=v1;g=meta.k8s.io,application/json';

/** Maximum wait of a test for one response or event. */
const timeoutMs = 15_000;

export class Client {
  readonly backend: Backend;
  readonly #agent: Agent;
  readonly #watches = new Set<AbortController>();
  #names = 0;
  readonly #stamp = `${process.pid.toString(36)}${Date.now().toString(36).slice(-5)}`;

  constructor(backend: Backend) {
    this.backend = backend;
    const ca = backend.ca === undefined ? {} : { ca: backend.ca };
    this.#agent = new Agent({ connect: { ...ca, rejectUnauthorized: backend.ca !== undefined }, allowH2: false });
  }

  /** A name that is unique across tests and runs. */
  name(prefix: string): string {
    this.#names += 1;
    return `${prefix}-${this.#stamp}-${this.#names}`;
  }

  async send(method: string, path: string, { body, type, accept, headers }: RequestOptions = {}): Promise<ApiResponse> {
    const response = await request(this.backend.url + path, {
      method: method as 'GET',
      dispatcher: this.#agent,
      headers: { ...this.#headers(accept), ...contentType(body, type), ...headers },
      ...(body === undefined ? {} : { body: encode(body) }),
    });
    const bytes = Buffer.from(await response.body.arrayBuffer());
    const text = bytes.toString();
    return { code: response.statusCode, headers: response.headers, bytes, text, body: parse(text) };
  }

  get(path: string, options: RequestOptions = {}): Promise<ApiResponse> {
    return this.send('GET', path, options);
  }

  post(path: string, body: unknown, options: RequestOptions = {}): Promise<ApiResponse> {
    return this.send('POST', path, { ...options, body });
  }

  put(path: string, body: unknown, options: RequestOptions = {}): Promise<ApiResponse> {
    return this.send('PUT', path, { ...options, body });
  }

  patch(path: string, type: string | null, body: unknown, options: RequestOptions = {}): Promise<ApiResponse> {
    return this.send('PATCH', path, { ...options, body, type });
  }

  delete(path: string, body?: unknown): Promise<ApiResponse> {
    return this.send('DELETE', path, body === undefined ? {} : { body });
  }

  /** Creates the object or fails the test. */
  async make(path: string, body: unknown): Promise<Json> {
    const response = await this.post(path, body);
    assert.equal(response.code, 201, response.text);
    return response.body;
  }

  async namespace(): Promise<string> {
    const name = this.name('ns');
    await this.make('/api/v1/namespaces', { metadata: { name } });
    return name;
  }

  async node(extra: Json = {}): Promise<Json> {
    const name = this.name('node');
    return this.make('/api/v1/nodes', { ...extra, metadata: { name, ...extra.metadata } });
  }

  /** An unscheduled pod, unless specified otherwise. */
  async pod(namespace: string, extra: Json = {}): Promise<Json> {
    const { metadata, spec, ...rest } = extra;
    return this.make(`/api/v1/namespaces/${namespace}/pods`, aPod(this.name('pod'), { ...rest, metadata, spec }));
  }

  async lease(namespace: string, extra: Json = {}): Promise<Json> {
    return this.make(leases(namespace), { metadata: { name: this.name('lease') }, ...extra });
  }

  /** A watch of the changes of a collection from now on. */
  async watchChanges(collection: string, query = '', accept?: string): Promise<Watch> {
    return this.watch(`${collection}?resourceVersion=${await this.versionOf(collection)}${query}`, accept);
  }

  /** A watch of the later changes of one node. */
  watchNode({ metadata: { name, resourceVersion } }: Json): Promise<Watch> {
    return this.watch(`/api/v1/nodes?fieldSelector=metadata.name=${name}&resourceVersion=${resourceVersion}`);
  }

  async versionOf(collection: string): Promise<string> {
    return (await this.get(collection)).body.metadata.resourceVersion;
  }

  /** It is stopped when the client closes, unless the test stops it. */
  async watch(path: string, accept?: string): Promise<Watch> {
    const abort = new AbortController();
    this.#watches.add(abort);
    const separator = path.includes('?') ? '&' : '?';
    const response = await request(`${this.backend.url}${path}${separator}watch=true`, {
      dispatcher: this.#agent,
      headers: this.#headers(accept),
      signal: abort.signal,
      bodyTimeout: 0,
    });
    return new Watch(response, abort);
  }

  /** Number of open watches of all clients. */
  async openWatches(): Promise<number> {
    const { text } = await this.get('/metrics');
    return Number(/apiserver_longrunning_requests\{verb="WATCH"\} (\d+)/.exec(text)?.[1]);
  }

  async close(): Promise<void> {
    for (const watch of this.#watches) watch.abort();
    await this.#agent.destroy();
    await this.backend.close();
  }

  #headers(accept = 'application/json'): Record<string, string> {
    return { accept, authorization: `Bearer ${this.backend.token}` };
  }
}

function contentType(body: unknown, type: string | null | undefined): Record<string, string> {
  if (body === undefined || type === null) return {};
  return { 'content-type': type ?? 'application/json' };
}

function encode(body: unknown): string | Uint8Array {
  return typeof body === 'string' || body instanceof Uint8Array ? body : JSON.stringify(body);
}

function parse(text: string): Json {
  try {
    return JSON.parse(text);
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

export function aPod(name: string, { metadata, spec, ...rest }: Json = {}): Json {
  return {
    ...rest,
    metadata: { name, ...metadata },
    spec: { automountServiceAccountToken: false, containers: [{ name: 'c', image: 'registry/image:1' }], ...spec },
  };
}

export interface WatchEvent {
  readonly type: string;
  readonly object: Json;
  /** The line as received. */
  readonly line: string;
}

class Watch {
  readonly code: number;
  readonly headers: ApiResponse['headers'];
  readonly #abort: AbortController;
  readonly #lines: AsyncIterator<string>;

  constructor(
    response: { statusCode: number; headers: ApiResponse['headers']; body: AsyncIterable<Uint8Array> },
    abort: AbortController,
  ) {
    this.code = response.statusCode;
    this.headers = response.headers;
    this.#abort = abort;
    this.#lines = linesOf(response.body);
  }

  /** The next event; undefined at the end of the stream. */
  async next(): Promise<WatchEvent | undefined> {
    const { value, done } = await withTimeout(this.#lines.next());
    if (done === true) return undefined;
    return { ...JSON.parse(value), line: value };
  }

  async take(count: number): Promise<readonly WatchEvent[]> {
    const events: WatchEvent[] = [];
    while (events.length < count) {
      const event = await this.next();
      assert.ok(event, `the watch ended after ${events.length} of ${count} events`);
      events.push(event);
    }
    return events;
  }

  /** All events up to and including the first one of that kind. */
  async until(seen: (event: WatchEvent) => boolean): Promise<readonly WatchEvent[]> {
    const events: WatchEvent[] = [];
    for (;;) {
      const event = await this.next();
      assert.ok(event, `the watch ended without the expected event: ${JSON.stringify(events)}`);
      events.push(event);
      if (seen(event)) return events;
    }
  }

  async rest(): Promise<readonly WatchEvent[]> {
    const events: WatchEvent[] = [];
    for (let event = await this.next(); event !== undefined; event = await this.next()) events.push(event);
    return events;
  }

  stop(): void {
    this.#abort.abort();
  }
}

async function* linesOf(body: AsyncIterable<Uint8Array>): AsyncGenerator<string, undefined> {
  let left = '';
  const decoder = new TextDecoder();
  try {
    for await (const chunk of body) {
      const lines = (left + decoder.decode(chunk, { stream: true })).split('\n');
      left = lines.pop() ?? '';
      yield* lines;
    }
  } catch (error) {
    if (!(error instanceof Error) || !['AbortError', 'RequestAbortedError'].includes(error.name)) throw error;
  }
  return undefined;
}

async function withTimeout<T>(promise: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new Error(`nothing arrived within ${timeoutMs} ms`)), timeoutMs);
  });
  try {
    return await Promise.race([promise, late]);
  } finally {
    clearTimeout(timer);
  }
}

/** A client of the server under test; closed after the tests of the file, so it is opened outside of tests and hooks. */
export async function openClient(options: Partial<ApiServerOptions> = {}): Promise<Client> {
  const client = new Client(await startBackend(options));
  after(() => client.close());
  return client;
}

/** Fails unless the response has that code, and a body with at least these fields. Returns the body. */
export function expect({ code, body, text }: ApiResponse, expected: number, fields: Json = {}): Json {
  assert.equal(code, expected, text);
  assert.partialDeepStrictEqual(body ?? {}, fields);
  return body;
}

/** The path of a stored node, pod or lease, from its metadata. */
export function nodePath({ metadata }: Json): string {
  return `/api/v1/nodes/${metadata.name}`;
}

export function podPath({ metadata }: Json): string {
  return `/api/v1/namespaces/${metadata.namespace}/pods/${metadata.name}`;
}

/** The path of the leases of a namespace. */
export function leases(namespace: string): string {
  return `/apis/coordination.k8s.io/v1/namespaces/${namespace}/leases`;
}

/** The names of the items of a list. */
export function namesOf({ body }: ApiResponse): readonly string[] {
  return body.items.map(({ metadata }: Json) => metadata.name);
}

/** The types of events. */
export function typesOf(events: readonly WatchEvent[]): readonly string[] {
  return events.map(({ type }) => type);
}

/** `details.causes[].reason` of a Status, without duplicates: upstream validates some fields twice. */
export function causesOf(response: ApiResponse): readonly string[] {
  return [...new Set<string>((response.body?.details?.causes ?? []).map((cause: Json) => cause.reason))];
}

export function revisionOf(object: Json): number {
  return Number(object.metadata.resourceVersion);
}
