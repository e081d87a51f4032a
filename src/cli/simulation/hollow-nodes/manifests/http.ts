import { Agent, type Dispatcher, interceptors, request } from 'undici';
import { messageOf } from '../../../../machinery/api/api-error.ts';
import type { ManifestAnswer, ManifestUrl } from '../../../../machinery/ports/static-pod-manifests.ts';
import { TimedAbort } from '../../../../machinery/kube-client/timed-abort.ts';
import { readBody } from '../../../../machinery/kube-client/body.ts';
import type { Headers } from '../../../../machinery/kube-client/connection.ts';
import { manifestBytesMax } from './files.ts';

/** For a complete response, redirects included (kubelet `config.NewSourceURL`). */
const downloadMsMax = 10_000;
/** Maximum number of redirections, as in Go's HTTP client. */
const redirectionsMax = 10;

export interface StaticPodUrlOptions {
  readonly url: string;
  /** Sent with each request (`--manifest-url-header`). */
  readonly headers?: Headers;
  /** Defaults to {@link downloadMsMax}. */
  readonly timeoutMs?: number;
}

/** The manifests at a URL. */
export class StaticPodUrl implements ManifestUrl {
  readonly url: string;
  readonly #options: StaticPodUrlOptions;
  readonly #target: URL;
  readonly #headers: Headers;
  readonly #agent = new Agent({ allowH2: false });
  readonly #dispatcher: Dispatcher = this.#agent.compose(interceptors.redirect({ maxRedirections: redirectionsMax }));

  /** Throws a TypeError for an invalid URL. */
  constructor(options: StaticPodUrlOptions) {
    this.#options = options;
    this.#target = new URL(options.url);
    this.#headers = { ...loginOf(this.#target), ...options.headers };
    this.#target.username = '';
    this.#target.password = '';
    this.url = this.#target.href;
  }

  async get(signal: AbortSignal): Promise<ManifestAnswer> {
    const abort = new TimedAbort([signal], this.#options.timeoutMs ?? downloadMsMax);
    try {
      return await this.#download(abort.signal);
    } catch (error) {
      return { kind: 'failed', problem: abort.overdue ? 'no response before the timeout' : messageOf(error) };
    } finally {
      abort.release();
    }
  }

  /** Closes its sockets. */
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

/** The user information of the URL, as basic authentication. */
function loginOf({ username, password }: URL): Headers {
  if (username === '' && password === '') return {};
  const login = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`;
  return { authorization: `Basic ${Buffer.from(login).toString('base64')}` };
}
