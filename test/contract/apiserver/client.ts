/** A client that hides nothing: raw requests, raw watch lines. */
import assert from 'node:assert/strict';
import { Agent, request } from 'undici';
import { type Backend, startBackend } from './backend.ts';

// What a server sends is looked at field by field, and a wrong guess fails the test.
// oxlint-disable-next-line typescript/no-explicit-any
export type Json = any;

export interface Answer {
  readonly code: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly text: string;
  readonly body: Json;
}

export interface Asking {
  readonly body?: unknown;
  readonly type?: string | null;
  readonly accept?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

export const mergePatch = 'application/merge-patch+json';
export const strategicPatch = 'application/strategic-merge-patch+json';
export const jsonPatch = 'application/json-patch+json';
export const tableAccept = 'application/json;as=Table;v=v1;g=meta.k8s.io,application/json';

/** No test waits longer than this for something to arrive. */
const patienceMs = 15_000;

export class Client {
  readonly backend: Backend;
  readonly #agent: Agent;
  #names = 0;
  readonly #stamp = `${process.pid.toString(36)}${Date.now().toString(36).slice(-5)}`;

  constructor(backend: Backend) {
    this.backend = backend;
    const ca = backend.ca === undefined ? {} : { ca: backend.ca };
    this.#agent = new Agent({ connect: { ...ca, rejectUnauthorized: backend.ca !== undefined }, allowH2: false });
  }

  /** A name nobody else uses, in this run or another. */
  name(prefix: string): string {
    this.#names += 1;
    return `${prefix}-${this.#stamp}-${this.#names}`;
  }

  async ask(method: string, path: string, { body, type, accept, headers }: Asking = {}): Promise<Answer> {
    const answer = await request(this.backend.url + path, {
      method: method as 'GET',
      dispatcher: this.#agent,
      headers: { ...this.#headers(accept), ...contentType(body, type), ...headers },
      ...(body === undefined ? {} : { body: encode(body) }),
    });
    const text = await answer.body.text();
    return { code: answer.statusCode, headers: answer.headers, text, body: parse(text) };
  }

  get(path: string, asking: Asking = {}): Promise<Answer> {
    return this.ask('GET', path, asking);
  }

  post(path: string, body: unknown, asking: Asking = {}): Promise<Answer> {
    return this.ask('POST', path, { ...asking, body });
  }

  put(path: string, body: unknown, asking: Asking = {}): Promise<Answer> {
    return this.ask('PUT', path, { ...asking, body });
  }

  patch(path: string, type: string | null, body: unknown, asking: Asking = {}): Promise<Answer> {
    return this.ask('PATCH', path, { ...asking, body, type });
  }

  delete(path: string, body?: unknown): Promise<Answer> {
    return this.ask('DELETE', path, body === undefined ? {} : { body });
  }

  /** Creates or fails the test. */
  async make(path: string, body: unknown): Promise<Json> {
    const answer = await this.post(path, body);
    assert.equal(answer.code, 201, answer.text);
    return answer.body;
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

  /** A running pod on a node, unless told otherwise. */
  async pod(namespace: string, extra: Json = {}): Promise<Json> {
    const { metadata, spec, ...rest } = extra;
    return this.make(`/api/v1/namespaces/${namespace}/pods`, aPod(this.name('pod'), { ...rest, metadata, spec }));
  }

  async lease(namespace: string, extra: Json = {}): Promise<Json> {
    return this.make(`/apis/coordination.k8s.io/v1/namespaces/${namespace}/leases`, {
      metadata: { name: this.name('lease') },
      ...extra,
    });
  }

  async watch(path: string, accept?: string): Promise<Watch> {
    const abort = new AbortController();
    const separator = path.includes('?') ? '&' : '?';
    const answer = await request(`${this.backend.url}${path}${separator}watch=true`, {
      dispatcher: this.#agent,
      headers: this.#headers(accept),
      signal: abort.signal,
      bodyTimeout: 0,
    });
    return new Watch(answer, abort);
  }

  async close(): Promise<void> {
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
  /** The line as it came. */
  readonly line: string;
}

export class Watch {
  readonly code: number;
  readonly headers: Answer['headers'];
  readonly #abort: AbortController;
  readonly #lines: AsyncIterator<string>;

  constructor(
    answer: { statusCode: number; headers: Answer['headers']; body: AsyncIterable<Uint8Array> },
    abort: AbortController,
  ) {
    this.code = answer.statusCode;
    this.headers = answer.headers;
    this.#abort = abort;
    this.#lines = linesOf(answer.body);
  }

  /** The next event, or undefined at the end of the stream. */
  async next(): Promise<WatchEvent | undefined> {
    const { value, done } = await withPatience(this.#lines.next());
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

  /** Everything up to and including the first event of that kind. */
  async until(seen: (event: WatchEvent) => boolean): Promise<readonly WatchEvent[]> {
    const events: WatchEvent[] = [];
    for (;;) {
      const event = await this.next();
      assert.ok(event, `the watch ended without what was waited for: ${JSON.stringify(events)}`);
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

async function withPatience<T>(promise: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new Error(`nothing arrived within ${patienceMs} ms`)), patienceMs);
  });
  try {
    return await Promise.race([promise, late]);
  } finally {
    clearTimeout(timer);
  }
}

export async function openClient(): Promise<Client> {
  return new Client(await startBackend());
}

/** `details.causes[].reason` of a Status, each once: upstream validates some things twice and says so twice. */
export function causesOf(answer: Answer): readonly string[] {
  return [...new Set<string>((answer.body?.details?.causes ?? []).map((cause: Json) => cause.reason))];
}

export function revisionOf(object: Json): number {
  return Number(object.metadata.resourceVersion);
}
