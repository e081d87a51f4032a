// The barest client of an API server: what the tests use where they must not trust the code under test.
import { Agent, request } from 'undici';

const connectTimeoutMs = 5_000;

export interface RestTarget {
  readonly url: string;
  /** The certificate authority's certificate, PEM. */
  readonly ca: string;
  readonly token: string;
}

export interface RestAnswer<T> {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  /** The body: parsed if it is JSON, `{ text }` otherwise. Its shape is what the test says it is. */
  readonly body: T;
}

/** An object of the API, as far as most tests look. Those that look further say what they expect. */
export interface KubeJson {
  readonly [field: string]: unknown;
  readonly kind?: string;
  readonly reason?: string;
  readonly message?: string;
  readonly metadata?: Readonly<Record<string, unknown>> & { readonly name?: string; readonly uid?: string };
}

export interface WatchFrame {
  readonly type: string;
  readonly object: KubeJson;
}

export class RestClient {
  readonly #target: RestTarget;
  readonly #agent: Agent;

  constructor(target: RestTarget) {
    this.#target = target;
    // A quiet watch is a healthy watch: no limit on the time between two frames.
    this.#agent = new Agent({ connect: { ca: target.ca, timeout: connectTimeoutMs }, bodyTimeout: 0 });
  }

  /** One request. An answer of any status resolves; only a broken connection, or the signal, rejects. */
  async send<T = KubeJson>(
    method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE',
    path: string,
    body?: unknown,
    options: { readonly contentType?: string; readonly signal?: AbortSignal } = {},
  ): Promise<RestAnswer<T>> {
    const answer = await request(`${this.#target.url}${path}`, {
      method,
      dispatcher: this.#agent,
      headers: this.#headers(options.contentType),
      body: body === undefined ? null : JSON.stringify(body),
      ...(options.signal === undefined ? {} : { signal: options.signal }),
    });
    const text = await answer.body.text();
    const parsed: T = JSON.parse(isJson(text) ? text : JSON.stringify({ text }));
    return { status: answer.statusCode, headers: answer.headers, body: parsed };
  }

  /** Sends, and throws the server's own words unless the status says success. */
  async must<T = KubeJson>(...request: Parameters<RestClient['send']>): Promise<T> {
    const answer = await this.send<T>(...request);
    if (answer.status >= 200 && answer.status < 300) return answer.body;
    throw new Error(`${request[0]} ${request[1]}: ${answer.status} ${JSON.stringify(answer.body)}`);
  }

  /** The frames of a watch, until the server ends it or the caller stops reading. */
  async *watch(path: string, signal: AbortSignal): AsyncGenerator<WatchFrame> {
    const answer = await request(`${this.#target.url}${path}`, {
      dispatcher: this.#agent,
      headers: this.#headers(),
      signal,
    });
    if (answer.statusCode !== 200) throw new Error(`${path}: ${answer.statusCode} ${await answer.body.text()}`);
    let rest = '';
    for await (const chunk of answer.body.setEncoding('utf8')) {
      const lines = (rest + String(chunk)).split('\n');
      rest = lines.pop() ?? '';
      for (const line of lines) {
        const frame: WatchFrame = JSON.parse(line);
        yield frame;
      }
    }
  }

  /** Breaks whatever is still open. */
  close(): Promise<void> {
    return this.#agent.destroy();
  }

  #headers(contentType = 'application/json'): Record<string, string> {
    return {
      authorization: `Bearer ${this.#target.token}`,
      accept: 'application/json',
      'content-type': contentType,
    };
  }
}

/** Plain text, and the many documents of a watch that ended, are not. */
function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
