// Who we are, for every request anew: tokens and certificates change while we run.
import type { RequestOptions } from 'node:https';
import type { KubeConfig } from '@kubernetes/client-node/dist/config.js';
import { ConnectionError, type Place } from './connection-error.ts';
import type { ExecPlugin } from './exec-plugin.ts';
import type { Connection, Headers, TlsOptions } from './http-connection.ts';
import type { TokenFile } from './token-file.ts';

/** What client-node cannot keep fresh for us; at most one of the two. */
export interface Login {
  readonly tokenFile?: TokenFile;
  readonly plugin?: ExecPlugin;
  /** What to name when it does not work. */
  readonly place?: Place;
}

/** What was chosen, before the credentials are read. */
export interface LoginTarget extends Login {
  readonly place: Place;
  readonly server: string;
  readonly proxyUrl: string | undefined;
  readonly namespace: string | undefined;
  /** Everything that the kubeconfig says of the cluster and the user, but for token files and plugins. */
  readonly config: KubeConfig;
}

interface Known {
  readonly headers: Headers;
  readonly tls: TlsOptions;
}

/** Reads the credentials once, so that what is missing shows now. Rejects with a {@link ConnectionError}. */
export async function openLogin(target: LoginTarget): Promise<Connection> {
  const { server, proxyUrl, namespace } = target;
  const told = <T>(reading: Promise<T>): Promise<T> => reading.catch((cause: unknown) => unobtainable(target, cause));
  const credentials = new Credentials(target, await told(askClientNode(target.config)));
  const [tls] = await told(Promise.all([credentials.tls(), credentials.headers()]));
  return {
    server,
    proxyUrl,
    namespace,
    tls,
    authorization: () => told(credentials.headers()),
    refused: (headers) => credentials.refused(headers),
    reloadTls: () => told(credentials.tls()),
  };
}

function unobtainable({ place }: LoginTarget, cause: unknown): never {
  const why = cause instanceof Error ? `: ${cause.message}` : '';
  throw new ConnectionError(place, `cannot be obtained${why}`, cause);
}

class Credentials {
  readonly #target: LoginTarget;
  readonly #first: Known;
  #asking: Promise<Known> | undefined;

  constructor(target: LoginTarget, first: Known) {
    this.#target = target;
    this.#first = first;
  }

  async headers(): Promise<Headers> {
    const { config, tokenFile, plugin } = this.#target;
    if (config.getCurrentUser()?.authProvider !== undefined) return (await this.#ask()).headers;
    const token = tokenFile?.current() ?? (await plugin?.current())?.token;
    const { headers } = this.#first;
    return token === undefined ? headers : { ...headers, authorization: `Bearer ${token}` };
  }

  async tls(): Promise<TlsOptions> {
    const { tls } = await this.#ask();
    const { certPem, keyPem } = (await this.#target.plugin?.current()) ?? {};
    return certPem === undefined ? tls : { ...tls, cert: certPem, key: keyPem };
  }

  /** True where the next reading may bring others. */
  refused({ authorization }: Headers): boolean {
    const { config, tokenFile, plugin } = this.#target;
    const token = authorization?.replace(/^Bearer /, '');
    if (token !== undefined) tokenFile?.refused(token);
    plugin?.refused(token);
    return (tokenFile ?? plugin ?? config.getCurrentUser()?.certFile) !== undefined;
  }

  /** One at a time, whoever asks: an identity provider must not be asked for every request that waits. */
  async #ask(): Promise<Known> {
    this.#asking ??= askClientNode(this.#target.config).finally(() => {
      this.#asking = undefined;
    });
    return this.#asking;
  }
}

/** What client-node makes of the kubeconfig now: files are read again, identity providers asked where a token has expired. */
async function askClientNode(config: KubeConfig): Promise<Known> {
  const options: RequestOptions = {};
  await config.applyToHTTPSOptions(options);
  return { headers: headersOf(options), tls: tlsOf(options) };
}

function headersOf({ headers, auth }: RequestOptions): Headers {
  const said: Record<string, string> = {};
  if (typeof auth === 'string') said['authorization'] = `Basic ${Buffer.from(auth).toString('base64')}`;
  for (const [name, value] of Object.entries(headers ?? {})) said[name.toLowerCase()] = String(value).trim();
  return said;
}

function tlsOf({ ca, cert, key, servername, rejectUnauthorized }: RequestOptions): TlsOptions {
  return { ca: bytes(ca), cert: bytes(cert), key: bytes(key), servername, rejectUnauthorized };
}

/** client-node gives a file's bytes or a text; the other forms that TLS would take do not come from it. */
function bytes(value: RequestOptions['ca'] | RequestOptions['key']): string | Buffer | undefined {
  return typeof value === 'string' || Buffer.isBuffer(value) ? value : undefined;
}
