import { Agent, type Dispatcher, interceptors, request } from 'undici';
import type { ManifestAnswer, ManifestUrl } from '../ports/static-pod-manifests.ts';
import { LinkedAbort } from './http-abort.ts';
import { readBody } from './http-body.ts';
import type { Headers } from './http-connection.ts';
import { manifestBytesMax } from './static-pod-files.ts';

/** For a whole answer, redirections included (kubelet `config.NewSourceURL`). */
export const downloadMsMax = 10_000;
/** As many as Go's client follows. */
const redirectionsMax = 10;

export interface StaticPodUrlOptions {
  readonly url: string;
  /** Sent with each request, as `--manifest-url-header` has it. */
  readonly headers?: Headers;
  /** {@link downloadMsMax} when absent. */
  readonly timeoutMs?: number;
}

/** The manifests behind a URL. */
export class StaticPodUrl implements ManifestUrl {
  readonly url: string;
  readonly #options: StaticPodUrlOptions;
  readonly #target: URL;
  readonly #headers: Headers;
  readonly #agent = new Agent();
  readonly #dispatcher: Dispatcher = this.#agent.compose(interceptors.redirect({ maxRedirections: redirectionsMax }));

  /** Throws a TypeError for what is no URL. */
  constructor(options: StaticPodUrlOptions) {
    this.#options = options;
    this.#target = new URL(options.url);
    this.#headers = { ...loginOf(this.#target), ...options.headers };
    this.#target.username = '';
    this.#target.password = '';
    this.url = this.#target.href;
  }

  async get(signal: AbortSignal): Promise<ManifestAnswer> {
    const abort = new LinkedAbort([signal], this.#options.timeoutMs ?? downloadMsMax);
    try {
      return await this.#download(abort.signal);
    } catch (error) {
      return { kind: 'failed', problem: abort.overdue ? 'no answer in time' : problemOf(error) };
    } finally {
      abort.release();
    }
  }

  /** Lets go of its sockets. */
  async close(): Promise<void> {
    await this.#agent.destroy();
  }

  async #download(signal: AbortSignal): Promise<ManifestAnswer> {
    const { statusCode, body } = await request(this.#target, {
      dispatcher: this.#dispatcher,
      headers: this.#headers,
      signal,
    });
    if (statusCode !== 200) {
      await body.dump({ limit: manifestBytesMax, signal });
      return { kind: 'answer', status: statusCode, text: '' };
    }
    const bytes = await readBody(body, manifestBytesMax);
    return { kind: 'answer', status: statusCode, text: bytes.toString('utf8') };
  }
}

/** What stands before the `@`. */
function loginOf({ username, password }: URL): Headers {
  if (username === '' && password === '') return {};
  const login = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`;
  return { authorization: `Basic ${Buffer.from(login).toString('base64')}` };
}

function problemOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
