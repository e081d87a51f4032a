// The connection settings of an API server. `kube-connection.ts` creates them from a kubeconfig or from the in-cluster
// environment; a server on loopback needs neither.

export type Headers = Readonly<Record<string, string>>;

/** PEM texts, as bytes or strings. */
export interface TlsOptions {
  readonly ca?: string | Buffer | undefined;
  readonly cert?: string | Buffer | undefined;
  readonly key?: string | Buffer | undefined;
  /** The expected name in the server certificate and SNI, if it is not the URL's host. */
  readonly servername?: string | undefined;
  /** False: the server certificate is not verified. */
  readonly rejectUnauthorized?: boolean | undefined;
}

export interface Connection {
  /** `https://host:port` with an optional path, without a trailing slash. */
  readonly server: string;
  /** `http:`, `https:` or `socks5:`. */
  readonly proxyUrl: string | undefined;
  readonly tls: TlsOptions;
  /** The namespace of the context or of the controller's pod, if known. */
  readonly namespace: string | undefined;
  /** Authentication headers. Called before every request: tokens are rotated. Rejects with a ConnectionError. */
  authorization(): Promise<Headers>;
  /** The server responded with 401 to these headers. True if calling {@link authorization} again may return others. */
  refused(headers: Headers): boolean;
  /** The TLS options as currently on disk. Rejects with a ConnectionError. */
  reloadTls(): Promise<TlsOptions>;
}

/** Whether both are equal, byte for byte. */
export function sameTls(a: TlsOptions, b: TlsOptions): boolean {
  return (
    sameBytes(a.ca, b.ca) &&
    sameClientCertificate(a, b) &&
    a.servername === b.servername &&
    a.rejectUnauthorized === b.rejectUnauthorized
  );
}

/** Whether both have the same client certificate. */
export function sameClientCertificate(a: TlsOptions, b: TlsOptions): boolean {
  return sameBytes(a.cert, b.cert) && sameBytes(a.key, b.key);
}

/** Whether both are equal, or both absent. */
export function sameBytes(a: string | Buffer | undefined, b: string | Buffer | undefined): boolean {
  return a === b || (a !== undefined && b !== undefined && Buffer.from(a).equals(Buffer.from(b)));
}
