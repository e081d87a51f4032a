// Who we are, for every request anew: tokens and certificates change while we run.
import { ConnectionError, type Place } from './connection-error.ts';
import type { ExecPlugin } from './exec-plugin.ts';
import type { Connection, Headers, TlsOptions } from './http-connection.ts';
import {
  credentialsReader,
  hasIdentityProvider,
  type Known,
  type ReadCredentials,
  type Written,
} from './kube-credentials.ts';
import { textField } from './kube-fields.ts';
import type { TokenFile } from './token-file.ts';

/** What changes by rules of its own; at most one of the two. */
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
  readonly written: Written;
}

/** Reads the credentials once, so that what is missing shows now. Rejects with a {@link ConnectionError}. */
export async function openLogin(target: LoginTarget): Promise<Connection> {
  const { server, proxyUrl, namespace } = target;
  const told = <T>(reading: Promise<T>): Promise<T> => reading.catch((cause: unknown) => unobtainable(target, cause));
  const read = await told(credentialsReader(target.written));
  const credentials = new Credentials(target, read, await told(read()));
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
  readonly #read: ReadCredentials;
  readonly #first: Known;
  #asking: Promise<Known> | undefined;

  constructor(target: LoginTarget, read: ReadCredentials, first: Known) {
    this.#target = target;
    this.#read = read;
    this.#first = first;
  }

  async headers(): Promise<Headers> {
    const { written, tokenFile, plugin } = this.#target;
    if (hasIdentityProvider(written)) return (await this.#ask()).headers;
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
    const { written, tokenFile, plugin } = this.#target;
    const token = authorization?.replace(/^Bearer /, '');
    if (token !== undefined) tokenFile?.refused(token);
    plugin?.refused(token);
    return (tokenFile ?? plugin ?? textField(written.user, 'client-certificate')) !== undefined;
  }

  /** One at a time, whoever asks: an identity provider must not be asked for every request that waits. */
  async #ask(): Promise<Known> {
    this.#asking ??= this.#read().finally(() => {
      this.#asking = undefined;
    });
    return this.#asking;
  }
}
