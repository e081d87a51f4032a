// The pages of a controller at the address of --server.
import { Agent, request } from 'undici';
import { codeOf } from '../../machinery/kube-client/errors.ts';
import type { TlsOptions } from '../../machinery/kube-client/connection.ts';
import { type ClientValues, type PageAccess, pageAccess } from './page-access.ts';
import { type PageAnswer, PageError, type PageSource, readPageBody } from './page-source.ts';

/** Timeout of a request. The controller serves its pages from memory. */
export const pageTimeoutMs = 10_000;

export class ServerPages implements PageSource {
  readonly name: string;
  readonly #access: PageAccess;
  readonly #agent: Agent;

  /** Rejects with a ConnectionError if a file with credentials cannot be read. */
  static async open(values: ClientValues): Promise<ServerPages> {
    return new ServerPages(values.server, await pageAccess(values));
  }

  private constructor(server: string, access: PageAccess) {
    this.name = server;
    this.#access = access;
    this.#agent = new Agent({ connect: given(access.tls) });
  }

  hintAfter(status: number): string | undefined {
    return status === 401 ? 'set --token, --token-file or --kubeconfig to authenticate' : undefined;
  }

  async get(path: string, signal: AbortSignal): Promise<PageAnswer> {
    try {
      const answer = await request(new URL(path, this.name), {
        dispatcher: this.#agent,
        headers: { ...this.#access.headers },
        signal: AbortSignal.any([signal, AbortSignal.timeout(pageTimeoutMs)]),
      });
      return { status: answer.statusCode, body: await readPageBody(this.name, answer.body) };
    } catch (error) {
      if (error instanceof PageError) throw error;
      const message = `no response from ${this.name} (${causeOf(error)}); ${hintFor(this.name, error)}`;
      throw new PageError(message, { cause: error });
    }
  }

  close(): Promise<void> {
    return this.#agent.destroy();
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
  const plain = server.startsWith('http:') && ['ECONNRESET', 'UND_ERR_SOCKET'].includes(code);
  const secure = plain ? ', with https:// if it runs with --metrics-secure' : '';
  return `--server must be the address where the controller serves /metrics${secure}`;
}

export function causeOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  // If a name has several addresses and all fail, the AggregateError has an empty message.
  return error.message === '' ? (codeOf(error) ?? error.name) : error.message;
}
