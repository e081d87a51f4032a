// As much of an API server as the kubectl plugin uses: pods, the lease, tokens of service accounts, port-forwards and the
// proxy to pods, with permissions that a test takes away.
import { once } from 'node:events';
import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { text } from 'node:stream/consumers';
import type { Duplex } from 'node:stream';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { servePortForward } from './channel-socket.ts';

export interface FakePod {
  readonly namespace: string;
  readonly name: string;
  /** The port on loopback where its pages are served. */
  readonly port: number;
  readonly secure?: boolean;
  readonly phase?: string;
  readonly labels?: Readonly<Record<string, string>>;
}

interface TokenRequestSeen {
  readonly account: string;
  readonly audiences: readonly string[];
  readonly expirationSeconds: number;
}

const controllerName = 'node-lifecycle-controller';
const replicaSet = `${controllerName}-5d5f7c9b8c`;

export class FakeCluster implements AsyncDisposable {
  readonly pods: FakePod[] = [];
  /** The holder identity in the lease; undefined: there is no lease. */
  holder: string | undefined;
  /** `VERB RESOURCE` or `VERB RESOURCE in NAMESPACE`, such as `list pods`. */
  readonly forbidden = new Set<string>();
  /** What the token of a TokenRequest is, by account. */
  readonly tokens = new Map<string, string>();
  readonly tokenRequests: TokenRequestSeen[] = [];
  readonly nodes: string[] = [];
  /** Delays all responses until it resolves. */
  held: Promise<unknown> = Promise.resolve();
  readonly requests: string[] = [];
  readonly #server = createServer((incoming, response) => void this.#serve(incoming, response));
  readonly #folder = mkdtempSync(join(tmpdir(), 'nlc-cluster-'));
  #forwards = new Set<Duplex>();

  static async start(): Promise<FakeCluster> {
    const cluster = new FakeCluster();
    cluster.#server.on('upgrade', (incoming: IncomingMessage, socket: Duplex) => cluster.#upgrade(incoming, socket));
    cluster.#server.listen(0, '127.0.0.1');
    await once(cluster.#server, 'listening');
    return cluster;
  }

  get url(): string {
    const address = this.#server.address();
    if (typeof address !== 'object' || address === null) throw new Error('not listening');
    return `http://127.0.0.1:${address.port}`;
  }

  /** The path of a kubeconfig, with a token that must not reach a pod. */
  kubeconfig(namespace?: string): string {
    const file = join(this.#folder, `config-${namespace ?? ''}`);
    const context = { cluster: 'c', user: 'u', ...(namespace === undefined ? {} : { namespace }) };
    const config = {
      'current-context': 'c',
      contexts: [{ name: 'c', context }],
      clusters: [{ name: 'c', cluster: { server: this.url } }],
      users: [{ name: 'u', user: { token: 'user-token' } }],
    };
    writeFileSync(file, JSON.stringify(config));
    return file;
  }

  /** Port-forwards that are open now. */
  get forwards(): number {
    return this.#forwards.size;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    rmSync(this.#folder, { recursive: true, force: true });
    for (const socket of this.#forwards) socket.destroy();
    this.#server.closeAllConnections();
    this.#server.close();
    await once(this.#server, 'close').catch(() => undefined);
  }

  #upgrade(incoming: IncomingMessage, socket: Duplex): void {
    this.requests.push(`FORWARD ${incoming.url}`);
    const [, namespace = '', name = '', port = ''] =
      /^\/api\/v1\/namespaces\/([^/]+)\/pods\/([^/]+)\/portforward\?ports=(\d+)$/.exec(incoming.url ?? '') ?? [];
    if (this.#isForbidden('create', 'pods/portforward', namespace)) {
      const body = JSON.stringify(forbiddenStatus('create', 'pods/portforward', namespace));
      socket.end(
        `HTTP/1.1 403 Forbidden\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
      );
      return;
    }
    const pod = this.pods.find((each) => each.namespace === namespace && each.name === name);
    if (pod === undefined) return void socket.end('HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n');
    this.#forwards.add(socket);
    socket.once('close', () => this.#forwards.delete(socket));
    servePortForward(incoming, socket, Number(port));
  }

  async #serve(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(incoming.url ?? '', this.url);
    this.requests.push(`${incoming.method} ${url.pathname}`);
    await this.held;
    const proxied = /^\/api\/v1\/namespaces\/([^/]+)\/pods\/([^/:]+):(\d+)\/proxy(\/.*)$/.exec(url.pathname);
    if (proxied !== null) return this.#proxy(proxied, url, incoming, response);
    const [status, body] = await this.#answer(incoming, url);
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
  }

  async #answer(incoming: IncomingMessage, url: URL): Promise<readonly [number, unknown]> {
    const pods = /^\/api\/v1(?:\/namespaces\/([^/]+))?\/pods$/.exec(url.pathname);
    if (pods !== null) return this.#list(pods[1] ?? '', url.searchParams);
    if (url.pathname === '/api/v1/nodes') return [200, listOf(this.nodes.map((name) => ({ metadata: { name } })))];
    const token = /^\/api\/v1\/namespaces\/([^/]+)\/serviceaccounts\/([^/]+)\/token$/.exec(url.pathname);
    if (token !== null) return this.#token(token, incoming);
    if (url.pathname === `/apis/coordination.k8s.io/v1/namespaces/kube-system/leases/${controllerName}`) {
      if (this.#isForbidden('get', 'leases', 'kube-system'))
        return [403, forbiddenStatus('get', 'leases', 'kube-system')];
      if (this.holder !== undefined) return [200, { spec: { holderIdentity: this.holder } }];
    }
    return [404, { kind: 'Status', code: 404, reason: 'NotFound', message: `${url.pathname} not found` }];
  }

  #list(namespace: string, query: URLSearchParams): readonly [number, unknown] {
    if (this.#isForbidden('list', 'pods', namespace)) return [403, forbiddenStatus('list', 'pods', namespace)];
    const wanted = (query.get('labelSelector') ?? '').split('=');
    const found = this.pods.filter((pod) => namespace === '' || pod.namespace === namespace).map(podObject);
    const matching = found.filter(({ metadata }) => metadata.labels[wanted[0] ?? ''] === wanted[1]);
    const limit = Number(query.get('limit') ?? Infinity);
    return [200, listOf(matching.slice(0, limit), matching.length > limit ? 'next' : '')];
  }

  async #token(
    [, namespace = '', account = '']: RegExpExecArray,
    incoming: IncomingMessage,
  ): Promise<readonly [number, unknown]> {
    const { spec } = JSON.parse(await text(incoming)) as { spec: Omit<TokenRequestSeen, 'account'> };
    if (this.#isForbidden('create', 'serviceaccounts/token', namespace))
      return [403, forbiddenStatus('create', 'serviceaccounts/token', namespace)];
    const token = this.tokens.get(account);
    if (token === undefined)
      return [
        404,
        { kind: 'Status', code: 404, reason: 'NotFound', message: `serviceaccounts "${account}" not found` },
      ];
    this.tokenRequests.push({ account, ...spec });
    return [201, { status: { token } }];
  }

  #proxy(
    [, namespace = '', name = '', port = '', path = '']: RegExpExecArray,
    url: URL,
    incoming: IncomingMessage,
    response: ServerResponse,
  ): void {
    if (this.#isForbidden('get', 'pods/proxy', namespace)) {
      response.writeHead(403, { 'content-type': 'application/json' });
      return void response.end(JSON.stringify(forbiddenStatus('get', 'pods/proxy', namespace)));
    }
    if (!this.pods.some((pod) => pod.name === name)) return void response.writeHead(404).end();
    // The header of the client is passed on, as kube-apiserver does; clients know that by a name of its own.
    const host = incoming.headers.host === 'localhost' ? 'localhost' : 'api.example:6443';
    const options = { host: '127.0.0.1', port, path: `${path}${url.search}`, headers: { host } };
    const target = request(options, (answer) => {
      response.writeHead(answer.statusCode ?? 502, { 'content-type': answer.headers['content-type'] ?? '' });
      answer.pipe(response);
    });
    target.on('error', () =>
      response.writeHead(503).end('{"kind":"Status","message":"error trying to reach service"}'),
    );
    target.end();
  }

  #isForbidden(verb: string, resource: string, namespace: string): boolean {
    return this.forbidden.has(`${verb} ${resource}`) || this.forbidden.has(`${verb} ${resource} in ${namespace}`);
  }
}

function podObject({ namespace, name, port, secure = false, phase = 'Running', labels = {} }: FakePod) {
  const own = { 'app.kubernetes.io/name': controllerName, 'pod-template-hash': '5d5f7c9b8c' };
  return {
    metadata: {
      namespace,
      name,
      labels: { ...own, ...labels } as Readonly<Record<string, string>>,
      ownerReferences: [{ kind: 'ReplicaSet', name: replicaSet }],
    },
    spec: {
      nodeName: 'worker-1',
      containers: [{ ports: [{ name: secure ? 'https-metrics' : 'metrics', containerPort: port }] }],
    },
    status: { phase },
  };
}

function listOf(items: readonly unknown[], next = ''): object {
  return { kind: 'List', metadata: { continue: next }, items };
}

function forbiddenStatus(verb: string, resource: string, namespace: string): object {
  const message = `${resource} is forbidden: User "u" cannot ${verb} resource "${resource}" in namespace "${namespace}"`;
  return { kind: 'Status', status: 'Failure', reason: 'Forbidden', code: 403, message };
}
