// The pages of one pod: through a port-forward, or, where that is not possible and the pages are plain, through the API
// server's proxy, which cannot send a credential to the pod.
import { connect as connectTls, type TLSSocket } from 'node:tls';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { Agent, type buildConnector, type Dispatcher } from 'undici';
import type { ClusterClient } from '../../machinery/kube-client/cluster-client.ts';
import type { Headers, TlsOptions } from '../../machinery/kube-client/connection.ts';
import { ApiError } from '../../machinery/api/api-error.ts';
import { mapOf, textOf } from '../../machinery/api/json-map.ts';
import { type PageAnswer, PageError, type PageSource, readPageBody } from '../client/page-source.ts';
import { causeOf, given, pageTimeoutMs } from '../client/server-pages.ts';
import { describeAccessError } from './select-leader.ts';
import type { PageLogin } from './page-login.ts';
import type { ControllerPod, PagePort } from './parse-controller-pod.ts';

const unauthorized = 401;
const misdirected = 421;
/** Each event stream of a dashboard holds one. */
const connectionsMax = 16;

/** A pod whose pages can be read. */
export interface PagesPod extends ControllerPod {
  readonly pages: PagePort;
}

interface PageRequest {
  readonly method: 'GET' | 'HEAD';
  /** Headers of a request; those of the login are added. */
  readonly headers: Readonly<Record<string, string>>;
  readonly signal: AbortSignal;
}

interface PodPagesOptions {
  readonly client: ClusterClient;
  readonly pod: PagesPod;
  readonly login: PageLogin;
}

export class PodPages implements PageSource {
  readonly name: string;
  readonly pod: PagesPod;
  /** Over port-forwards. */
  readonly #agent: Agent;
  readonly #options: PodPagesOptions;
  #isProxied = false;

  constructor(options: PodPagesOptions) {
    const { pod } = options;
    this.#options = options;
    this.pod = pod;
    this.name = `pod ${pod.namespace}/${pod.name}`;
    this.#agent = new Agent({
      connections: connectionsMax,
      allowH2: false,
      connect: (_, done) => void this.#connect(done),
    });
  }

  /** Origin as the pod sees it: the kubelet connects to loopback in the network of the pod. */
  get #origin(): string {
    const { port, secure } = this.pod.pages;
    return `${secure ? 'https' : 'http'}://127.0.0.1:${port}`;
  }

  /** Through a port-forward; once more with other credentials, if the first ones are rejected and there are others. */
  async send(path: string, asked: PageRequest): Promise<Dispatcher.ResponseData> {
    const { login } = this.#options;
    const headers = await login.headers(asked.signal);
    const answer = await this.#sendWith(headers, path, asked);
    if (answer.statusCode !== unauthorized || !login.refused(headers)) return answer;
    await answer.body.dump();
    return this.#sendWith(await login.headers(asked.signal), path, asked);
  }

  hintAfter(status: number): string | undefined {
    if (!this.pod.pages.secure) return undefined;
    if (status === 401)
      return 'the controller does not accept the token: its version may be older than that of this plugin';
    return status === 403 ? "needed: the chart's cluster role with the suffix -pages-reader" : undefined;
  }

  async get(path: string, signal: AbortSignal): Promise<PageAnswer> {
    const limited = AbortSignal.any([signal, AbortSignal.timeout(pageTimeoutMs)]);
    try {
      return await (this.#isProxied ? this.#proxied(path, limited) : this.#forwarded(path, limited));
    } catch (error) {
      if (this.#isProxied) throw new PageError(`no response from ${this.name} (${causeOf(error)})`, { cause: error });
      if (!(error instanceof ApiError) || this.pod.pages.secure || signal.aborted) throw this.#failure(error);
      return this.#insteadOfForward(path, limited, this.#failure(error));
    }
  }

  close(): Promise<void> {
    return this.#agent.destroy();
  }

  async #forwarded(path: string, signal: AbortSignal): Promise<PageAnswer> {
    const answer = await this.send(path, { method: 'GET', headers: {}, signal });
    return { status: answer.statusCode, body: await readPageBody(this.name, answer.body) };
  }

  #sendWith(login: Headers, path: string, { method, headers, signal }: PageRequest): Promise<Dispatcher.ResponseData> {
    const all = { ...headers, ...login };
    return this.#agent.request({ origin: this.#origin, path, method, headers: all, signal });
  }

  /** The port-forward failed; reports that too if the proxy fails. */
  async #insteadOfForward(path: string, signal: AbortSignal, forwardFailure: PageError): Promise<PageAnswer> {
    const answer = await this.#proxied(path, signal).catch((error: unknown) => {
      const message = `${forwardFailure.message}; through the API server's proxy: ${causeOf(error)}`;
      throw new PageError(message, { cause: error });
    });
    this.#isProxied = true;
    return answer;
  }

  async #proxied(path: string, signal: AbortSignal): Promise<PageAnswer> {
    const { namespace, name, pages } = this.pod;
    const [space, pod] = [namespace, name].map(encodeURIComponent);
    const base = `/api/v1/namespaces/${space}/pods/${pod}:${pages.port}/proxy`;
    const answer = await this.#throughProxy(`${base}${path}`, signal);
    const refusal = statusMessage(answer);
    if (refusal === undefined) return answer;
    throw new PageError(`GET ${base}: ${answer.status} ${refusal}`);
  }

  /** The API server passes the header `Host` on, and a pod answers for its own names only. */
  async #throughProxy(path: string, signal: AbortSignal): Promise<PageAnswer> {
    const { client } = this.#options;
    const answer = await client.page(path, signal);
    return answer.status === misdirected ? client.page(path, signal, 'localhost') : answer;
  }

  async #connect(done: buildConnector.Callback): Promise<void> {
    try {
      done(null, await this.#open());
    } catch (error) {
      done(error instanceof Error ? error : new Error(String(error)), null);
    }
  }

  async #open(): Promise<Socket | TLSSocket> {
    const { client, login } = this.#options;
    const { namespace, name, pages } = this.pod;
    const target = { namespace, pod: name, port: pages.port };
    const stream = await client.forward(target, AbortSignal.timeout(pageTimeoutMs));
    return login.tls === undefined ? asSocket(stream) : secured(stream, login.tls);
  }

  #failure(error: unknown): PageError {
    if (error instanceof PageError) return error;
    const { namespace, pages } = this.pod;
    const attempt = {
      what: `forward port ${pages.port} of ${this.name}`,
      verbs: 'get and create',
      resource: 'pods/portforward',
      namespace,
    };
    const message =
      error instanceof ApiError
        ? describeAccessError(attempt, error)
        : `no response from ${this.name} (${causeOf(error)})`;
    return new PageError(message, { cause: error });
  }
}

/** The API server answered instead of the pod: plain pages never are a Status. */
function statusMessage({ status, body }: PageAnswer): string | undefined {
  if (status < 400 || !body.includes('"Status"')) return undefined;
  try {
    const answer = mapOf(JSON.parse(body));
    return answer['kind'] === 'Status' ? textOf(answer['message']) : undefined;
  } catch {
    return undefined;
  }
}

function asSocket(stream: Duplex): Socket {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- undici uses the methods of a Duplex only, and those of a socket where they exist
  return stream as Socket;
}

function secured(stream: Duplex, { ca, cert, key, servername, rejectUnauthorized }: TlsOptions): Promise<TLSSocket> {
  const socket = connectTls({
    socket: stream,
    minVersion: 'TLSv1.2',
    ALPNProtocols: ['http/1.1'],
    ...given({ ca, cert, key, servername, rejectUnauthorized }),
  });
  return new Promise((resolve, reject) => {
    socket.once('error', reject);
    socket.once('secureConnect', () => {
      socket.off('error', reject);
      resolve(socket);
    });
  });
}
