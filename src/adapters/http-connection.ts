// What the HTTP client has to know of an API server. `kube-connection.ts` makes one from a kubeconfig or from inside a
// cluster; a server on loopback needs neither.

export type Headers = Readonly<Record<string, string>>;

/** PEM texts, as bytes or strings. */
export interface TlsOptions {
  readonly ca?: string | Buffer | undefined;
  readonly cert?: string | Buffer | undefined;
  readonly key?: string | Buffer | undefined;
  /** The name that is asked for and that the certificate must bear, where it is not the URL's. */
  readonly servername?: string | undefined;
  /** False: any certificate is believed. */
  readonly rejectUnauthorized?: boolean | undefined;
}

export interface Connection {
  /** `https://host:port` and perhaps a path, without a trailing slash. */
  readonly server: string;
  /** `http:`, `https:` or `socks5:`. */
  readonly proxyUrl: string | undefined;
  readonly tls: TlsOptions;
  /** The namespace of the context or of our own pod, where there is one. */
  readonly namespace: string | undefined;
  /** Headers that say who we are. Asked for before every request: tokens change. Rejects with a ConnectionError. */
  authorization(): Promise<Headers>;
  /** The server answered 401 to these. True where asking for them again may give others. */
  refused(headers: Headers): boolean;
  /** The TLS options as they are on disk now. Rejects with a ConnectionError. */
  reloadTls(): Promise<TlsOptions>;
}

export interface PlainConnectionOptions {
  readonly token?: string;
  readonly tls?: TlsOptions;
}

/** A connection to a server that is known already, as the embedded one. Reads no file. */
export function plainConnection(server: string, { token, tls = {} }: PlainConnectionOptions = {}): Connection {
  const headers: Headers = token === undefined ? {} : { authorization: `Bearer ${token}` };
  return {
    server: server.replace(/\/+$/, ''),
    proxyUrl: undefined,
    tls,
    namespace: undefined,
    authorization: () => Promise.resolve(headers),
    refused: () => false,
    reloadTls: () => Promise.resolve(tls),
  };
}

/** Do both say the same, byte for byte? */
export function sameTls(a: TlsOptions, b: TlsOptions): boolean {
  return (
    same(a.ca, b.ca) &&
    sameClientCertificate(a, b) &&
    a.servername === b.servername &&
    a.rejectUnauthorized === b.rejectUnauthorized
  );
}

/** Are we the same to the server, as far as TLS goes? */
export function sameClientCertificate(a: TlsOptions, b: TlsOptions): boolean {
  return same(a.cert, b.cert) && same(a.key, b.key);
}

function same(a: string | Buffer | undefined, b: string | Buffer | undefined): boolean {
  return a === b || (a !== undefined && b !== undefined && Buffer.from(a).equals(Buffer.from(b)));
}
