// A minimal API client for tests, independent of the code under test.
import { Agent, request } from 'undici';

const connectTimeoutMs = 5_000;

interface RestTarget {
  readonly url: string;
  /** The certificate authority's certificate, PEM. */
  readonly ca: string;
  readonly token: string;
}

interface RestAnswer<T> {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  /** The parsed JSON body, otherwise `{ text }`. Its type is not checked. */
  readonly body: T;
}

/** An API object with the fields that most tests use. Other tests pass their own type. */
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
    // Watches may be idle, so the time between two frames is not limited.
    this.#agent = new Agent({ connect: { ca: target.ca, timeout: connectTimeoutMs }, bodyTimeout: 0 });
  }

  /** Sends one request. Resolves with a response of any status; rejects for a broken connection or the signal. */
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
      body: encoded(body),
      ...(options.signal === undefined ? {} : { signal: options.signal }),
    });
    const text = await answer.body.text();
    const parsed: T = JSON.parse(isJson(text) ? text : JSON.stringify({ text }));
    return { status: answer.statusCode, headers: answer.headers, body: parsed };
  }

  /** Sends one request, and throws with the response body unless the status is 2xx. */
  async must<T = KubeJson>(...request: Parameters<RestClient['send']>): Promise<T> {
    const answer = await this.send<T>(...request);
    if (answer.status >= 200 && answer.status < 300) return answer.body;
    throw new Error(`${request[0]} ${request[1]}: ${answer.status} ${JSON.stringify(answer.body)}`);
  }

  /** The frames of a watch, until the server or the caller ends it. */
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

  /** Closes all connections. */
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

/** Bytes are sent unchanged; the caller sets the content type. */
function encoded(body: unknown): Uint8Array | string | null {
  if (body === undefined) return null;
  return body instanceof Uint8Array ? body : JSON.stringify(body);
}

/** False for plain text and for the documents of a watch. */
function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
