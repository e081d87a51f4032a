import type { Connection, Headers, TlsOptions } from '../../src/machinery/kube-client/connection.ts';

interface PlainConnectionOptions {
  readonly token?: string;
  readonly tls?: TlsOptions;
}

/** A connection with fixed settings, for example to the embedded server. Reads no file. */
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
