// The pages of a controller at the address of --server. Read with the client of Node.js, which starts faster than undici: a
// command that prints one page lives shorter than it takes to load more.
import { once } from 'node:events';
import type { Agent, ClientRequest, IncomingMessage, RequestOptions } from 'node:http';
import type { AgentOptions } from 'node:https';
import { codeOf } from '../../machinery/kube-client/errors.ts';
import type { TlsOptions } from '../../machinery/kube-client/connection.ts';
import { type ClientValues, type PageAccess, pageAccess } from './page-access.ts';
import { type PageAnswer, PageError, type PageSource, readPageBody } from './page-source.ts';

/** Timeout of a request. The controller serves its pages from memory. */
export const pageTimeoutMs = 10_000;

interface PageClient {
  readonly Agent: new (options: AgentOptions) => Agent;
  get(url: URL, options: RequestOptions): ClientRequest;
}

/** Only the one that is needed is loaded. */
function clientOf(server: string): PageClient {
  return process.getBuiltinModule(server.startsWith('https:') ? 'node:https' : 'node:http');
}

export class ServerPages implements PageSource {
  readonly name: string;
  readonly #access: PageAccess;
  readonly #client: PageClient;
  readonly #agent: Agent;

  /** Rejects with a ConnectionError if a file with credentials cannot be read. */
  static async open(values: ClientValues): Promise<ServerPages> {
    return new ServerPages(values.server, await pageAccess(values));
  }

  private constructor(server: string, access: PageAccess) {
    this.name = server;
    this.#access = access;
    this.#client = clientOf(server);
    this.#agent = new this.#client.Agent({ keepAlive: true, ...given(access.tls) });
  }

  hintAfter(status: number): string | undefined {
    return status === 401 ? 'set --token, --token-file or --kubeconfig to authenticate' : undefined;
  }

  async get(path: string, signal: AbortSignal): Promise<PageAnswer> {
    const limited = AbortSignal.any([signal, AbortSignal.timeout(pageTimeoutMs)]);
    try {
      const answer = await this.#request(new URL(path, this.name), limited);
      return { status: answer.statusCode ?? 0, body: await readPageBody(this.name, answer) };
    } catch (error) {
      if (error instanceof PageError) throw error;
      const cause: unknown = limited.aborted ? limited.reason : error;
      const message = `no response from ${this.name} (${causeOf(cause)}); ${hintFor(this.name, cause)}`;
      throw new PageError(message, { cause });
    }
  }

  async #request(url: URL, signal: AbortSignal): Promise<IncomingMessage> {
    const request = this.#client.get(url, { agent: this.#agent, headers: { ...this.#access.headers }, signal });
    // An answer that switches protocols is neither a response nor an error.
    const [answer]: IncomingMessage[] = await once(request, 'response', { signal });
    if (answer === undefined) throw new Error('a response event has its message');
    return answer;
  }

  close(): Promise<void> {
    this.#agent.destroy();
    return Promise.resolve();
  }
}

/** Without undefined options: `tls.connect` treats some of them as set. */
export function given(tls: TlsOptions): TlsOptions {
  return Object.fromEntries(Object.entries(tls).filter(([, value]) => value !== undefined));
}

function hintFor(server: string, error: unknown): string {
  const code = codeOf(error) ?? '';
  if (/CERT|SIGNATURE/.test(code)) {
    return 'set --certificate-authority and --tls-server-name to verify the certificate, or --insecure-skip-tls-verify on loopback';
  }
  const plain = server.startsWith('http:') && code === 'ECONNRESET';
  const secure = plain ? ', with https:// if it runs with --metrics-secure' : '';
  return `--server must be the address where the controller serves /metrics${secure}`;
}

export function causeOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  // If a name has several addresses and all fail, the AggregateError has an empty message.
  return error.message === '' ? (codeOf(error) ?? error.name) : error.message;
}
