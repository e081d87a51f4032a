/** Sends requests to kubelets: one connection each, so that no request meets a connection that has just been closed. */
import { type ClientRequest, type IncomingMessage, request as plainRequest, type RequestOptions } from 'node:http';
import { request as secureRequest } from 'node:https';
import { ownValue } from '../../api/json-map.ts';
import type { Clock } from '../../ports/clock.ts';
import { statusError } from '../api-errors/api-errors.ts';
import type { ForwardedHeaders } from '../node-proxy/build-forwarded-headers.ts';
import type { KubeletLocation } from '../node-proxy/select-kubelet-location.ts';
import { isProxyableAddress } from './proxyable-address.ts';

/** How kubelets are reached (upstream `KubeletClientConfig`). */
export interface KubeletClientOptions {
  /** Default: none, so that a kubelet which requires one refuses the connection. */
  readonly client?: { readonly certPem: string; readonly keyPem: string } | undefined;
  /** Default: none, and serving certificates are not verified. */
  readonly caPem?: string | undefined;
  /** Time to connect, TLS included. Default: five seconds. */
  readonly connectTimeoutMs?: number;
  /** Default: global unicast addresses only. */
  readonly isProxyable?: (address: string) => boolean;
}

interface KubeletRequest {
  readonly method: string;
  /** With the query. */
  readonly path: string;
  readonly headers: ForwardedHeaders;
  /** Aborts the request and its response. */
  readonly signal: AbortSignal;
  /** Writes the body and ends the request. */
  readonly writeBody: (request: ClientRequest) => void;
}

const defaultConnectTimeoutMs = 5_000;
/** The words of Go for errors that users search for. */
const reasons: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'connect: connection refused',
  EHOSTUNREACH: 'connect: no route to host',
  ENETUNREACH: 'connect: network is unreachable',
  ETIMEDOUT: 'i/o timeout',
};

export class KubeletClient {
  readonly #options: KubeletClientOptions;
  readonly #clock: Clock;

  constructor(options: KubeletClientOptions, clock: Clock) {
    this.#options = options;
    this.#clock = clock;
  }

  allows(address: string): boolean {
    return (this.#options.isProxyable ?? isProxyableAddress)(address);
  }

  /** The response, as soon as its headers have arrived. Rejects with a 503 ApiError. */
  async send(location: KubeletLocation, { writeBody, ...sent }: KubeletRequest): Promise<IncomingMessage> {
    const request = this.#open(location, sent);
    const connected = this.#limitConnecting(request, location);
    try {
      return await new Promise<IncomingMessage>((resolve, reject) => {
        // It stays, as the body may fail after the response has begun.
        request.on('error', reject);
        request.once('response', resolve);
        writeBody(request);
      });
    } catch (error) {
      throw unreachable(describeFailure(error, location));
    } finally {
      connected.abort();
    }
  }

  #open(location: KubeletLocation, { headers, ...sent }: Omit<KubeletRequest, 'writeBody'>): ClientRequest {
    const { host, port, secure, isKubelet } = location;
    const options: RequestOptions = { ...sent, host, port, headers: mutable(headers), setHost: false, agent: false };
    if (!secure) return plainRequest(options);
    const { client, caPem } = isKubelet ? this.#options : {};
    return secureRequest({
      ...options,
      // By default Node would verify the certificate for the name in the header Host, which is that of this server.
      servername: '',
      rejectUnauthorized: caPem !== undefined,
      ...(caPem === undefined ? {} : { ca: caPem }),
      ...(client === undefined ? {} : { cert: client.certPem, key: client.keyPem }),
    });
  }

  /** Aborting the result ends the limit. */
  #limitConnecting(request: ClientRequest, { secure }: KubeletLocation): AbortController {
    const connected = new AbortController();
    request.once('socket', (socket) => {
      socket.once(secure ? 'secureConnect' : 'connect', () => connected.abort());
    });
    const timeoutMs = this.#options.connectTimeoutMs ?? defaultConnectTimeoutMs;
    void this.#clock.sleep(timeoutMs, connected.signal).then(() => {
      if (!connected.signal.aborted) request.destroy(Object.assign(new Error('timeout'), { code: 'ETIMEDOUT' }));
    });
    return connected;
  }
}

/** The 503 for a kubelet that does not answer. */
export function unreachable(why: string): Error {
  return statusError(503, 'ServiceUnavailable', `error trying to reach service: ${why}`);
}

function mutable(headers: ForwardedHeaders): Record<string, string | string[]> {
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name, typeof value === 'string' ? value : [...value]]),
  );
}

function describeFailure(error: unknown, { host, port }: KubeletLocation): string {
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  const address = `${host.includes(':') ? `[${host}]` : host}:${port}`;
  const known = ownValue(reasons, code);
  const text = error instanceof Error ? error.message : String(error);
  return known === undefined ? text : `dial tcp ${address}: ${known}`;
}
