// The credentials of a connection, read before each request: tokens and certificates change while the process runs.
import { ConnectionError, type ConfigLocation } from './connection-error.ts';
import type { ExecPlugin } from './exec-plugin.ts';
import type { Connection, Headers, TlsOptions } from '../kube-client/connection.ts';
import { headersOf, readTls, textField, type Written } from './credentials.ts';
import type { TokenFile } from './token-file.ts';

/** Credentials with their own reload rules; at most one of the two. */
export interface Login {
  readonly tokenFile?: TokenFile;
  readonly plugin?: ExecPlugin;
  /** Location for error messages. */
  readonly place?: ConfigLocation;
}

/** The selected configuration, before the credentials are read. */
export interface LoginTarget extends Login {
  readonly place: ConfigLocation;
  readonly server: string;
  readonly proxyUrl: string | undefined;
  readonly namespace: string | undefined;
  /** All fields of the cluster and the user, without token files and plugins. */
  readonly written: Written;
}

/** Reads the credentials once, so that missing ones are reported now. Rejects with a {@link ConnectionError}. */
export async function openLogin(target: LoginTarget): Promise<Connection> {
  const { server, proxyUrl, namespace } = target;
  const credentials = new Credentials(target);
  const headers = (): Promise<Headers> => withLocation(target, () => credentials.headers());
  const tls = (): Promise<TlsOptions> => withLocation(target, () => credentials.tls());
  const first = await tls();
  await headers();
  return {
    server,
    proxyUrl,
    namespace,
    tls: first,
    authorization: headers,
    refused: (refused) => credentials.refused(refused),
    reloadTls: tls,
  };
}

async function withLocation<T>({ place }: LoginTarget, read: () => Promise<T>): Promise<T> {
  try {
    return await read();
  } catch (cause) {
    const why = cause instanceof Error ? `: ${cause.message}` : '';
    throw new ConnectionError(place, `cannot be obtained${why}`, cause);
  }
}

class Credentials {
  readonly #target: LoginTarget;
  readonly #headers: Headers;

  constructor(target: LoginTarget) {
    this.#target = target;
    this.#headers = headersOf(target.written.user);
  }

  async headers(): Promise<Headers> {
    const { tokenFile, plugin } = this.#target;
    const token = tokenFile?.current() ?? (await plugin?.current())?.token;
    return token === undefined ? this.#headers : { ...this.#headers, authorization: `Bearer ${token}` };
  }

  async tls(): Promise<TlsOptions> {
    const tls = readTls(this.#target.written);
    const { certPem, keyPem } = (await this.#target.plugin?.current()) ?? {};
    return certPem === undefined ? tls : { ...tls, cert: certPem, key: keyPem };
  }

  /** True if the next read may return others. */
  refused({ authorization }: Headers): boolean {
    const { written, tokenFile, plugin } = this.#target;
    const token = authorization?.replace(/^Bearer /, '');
    if (plugin !== undefined) return plugin.refused(token);
    if (tokenFile !== undefined && token !== undefined) tokenFile.refused(token);
    return (tokenFile ?? textField(written.user, 'client-certificate')) !== undefined;
  }
}
