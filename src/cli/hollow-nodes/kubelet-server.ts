/**
 * What the kubelets of a fleet serve, all on one port: a kubelet listens on the address of its node, so the address that a
 * connection was made to selects the node. Clients need a certificate, as with a kubelet without anonymous access.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { DEFAULT_CIPHERS } from 'node:tls';
import { clientCertificateOf, PageListener } from '../../adapters/page-server/page-listener.ts';
import { makeServingCertificate } from '../../apiserver/http/serving-certificate.ts';
import type { HollowFleet } from '../../kubelet/fleet/fleet.ts';
import type { HollowKubelet } from '../../kubelet/hollow-kubelet.ts';
import type { Logger } from '../../ports/logger.ts';

type ServedFleet = Pick<HollowFleet, 'kubeletAt' | 'isConnected'>;

interface KubeletServerOptions {
  readonly fleet: ServedFleet;
  /** PEM. Certificates of other CAs are rejected with 401. */
  readonly clientCa: string;
  /** The port in the status of the nodes, or 0 for a free one. */
  readonly port: number;
  readonly logger: Logger;
}

interface KubeletAnswer {
  readonly status: number;
  readonly type: 'application/json' | 'text/plain; charset=utf-8';
  readonly body: string;
}

export class KubeletServer implements AsyncDisposable {
  readonly port: number;
  readonly #listener: PageListener;

  /** Listens on all IPv4 addresses. Rejects with a system error if the port is not available. */
  static async start({ fleet, clientCa, port, logger }: KubeletServerOptions): Promise<KubeletServer> {
    const { certPem, keyPem } = await makeServingCertificate({ commonName: 'hollow-kubelets', hosts: ['localhost'] });
    const tls = {
      minVersion: 'TLSv1.2',
      ciphers: DEFAULT_CIPHERS,
      current: () => ({ cert: certPem, key: keyPem, clientCa }),
      onChange: () => {},
    } as const;
    const listener = new PageListener({ logger, tls }, (request, response) => serve(fleet, request, response));
    return new KubeletServer(listener, await listener.listen({ host: '0.0.0.0', port }));
  }

  private constructor(listener: PageListener, port: number) {
    this.#listener = listener;
    this.port = port;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#listener.close();
  }
}

function serve(fleet: ServedFleet, request: IncomingMessage, response: ServerResponse): void {
  const kubelet = fleet.kubeletAt(request.socket.localAddress ?? '');
  // From a node that is cut off comes no answer.
  if (kubelet !== undefined && !fleet.isConnected(kubelet.name)) return void request.socket.destroy();
  const { status, type, body } = answerTo(request, kubelet);
  response.writeHead(status, {
    'content-type': type,
    'content-length': Buffer.byteLength(body),
    'x-content-type-options': 'nosniff',
    ...(status === 405 ? { allow: 'GET, HEAD' } : {}),
  });
  response.end(request.method === 'HEAD' ? undefined : body);
  request.resume();
}

function answerTo({ method, url = '', socket }: IncomingMessage, kubelet: HollowKubelet | undefined): KubeletAnswer {
  if (clientCertificateOf(socket) === undefined) return text(401, 'Unauthorized');
  if (method !== 'GET' && method !== 'HEAD') return text(405, 'Method Not Allowed');
  const [path] = url.split('?', 1);
  if (kubelet === undefined) return text(404, `no node has the address ${socket.localAddress ?? ''}`);
  if (path === '/healthz') return text(200, 'ok');
  if (path !== '/pods' && path !== '/pods/') return text(404, '404 page not found');
  return { status: 200, type: 'application/json', body: JSON.stringify(podListOf(kubelet)) };
}

/** What a kubelet serves at `/pods`: all pods that it knows, static pods too. */
export function podListOf(kubelet: HollowKubelet): object {
  const items = kubelet.pods.knownPods().map(({ metadata, spec, status }) => ({ metadata, spec, status }));
  return { kind: 'PodList', apiVersion: 'v1', metadata: {}, items };
}

function text(status: number, message: string): KubeletAnswer {
  return { status, type: 'text/plain; charset=utf-8', body: status === 200 ? message : `${message}\n` };
}
