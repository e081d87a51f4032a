// A proxy to an API server on plain HTTP that keeps what was asked and answered, and may refuse single requests.
import { Agent, createServer, type IncomingMessage, request, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface ProxiedExchange {
  readonly method: string;
  /** Path and query. */
  readonly url: string;
  readonly code: number;
}

interface Refusal {
  readonly code: number;
  readonly reason: string;
}

type Refuse = (method: string, url: string) => Refusal | undefined;

export class AuditingProxy implements AsyncDisposable {
  /** In the order of the answers. */
  readonly exchanges: ProxiedExchange[] = [];
  readonly #target: URL;
  readonly #refuse: Refuse;
  readonly #server: Server;
  readonly #agent = new Agent({ keepAlive: true });

  private constructor(target: string, refuse: Refuse) {
    this.#target = new URL(target);
    this.#refuse = refuse;
    this.#server = createServer((incoming, outgoing) => this.#serve(incoming, outgoing));
  }

  /** Listens on a free port of loopback. A request that `refuse` answers does not reach the server, and is not kept. */
  static async start(target: string, refuse: Refuse): Promise<AuditingProxy> {
    const proxy = new AuditingProxy(target, refuse);
    await new Promise<void>((resolve) => proxy.#server.listen(0, '127.0.0.1', resolve));
    return proxy;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections();
    this.#agent.destroy();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  #serve(incoming: IncomingMessage, outgoing: ServerResponse): void {
    const { method = 'GET', url = '/' } = incoming;
    const refusal = this.#refuse(method, url);
    if (refusal !== undefined) {
      incoming.resume();
      const status = { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Failure', ...refusal };
      outgoing.writeHead(refusal.code, { 'content-type': 'application/json' }).end(JSON.stringify(status));
      return;
    }
    const forwarded = request(new URL(url, this.#target), { method, headers: incoming.headers, agent: this.#agent });
    forwarded.once('response', (answer) => {
      this.exchanges.push({ method, url, code: answer.statusCode ?? 0 });
      outgoing.writeHead(answer.statusCode ?? 502, answer.headers);
      outgoing.flushHeaders();
      answer.pipe(outgoing);
    });
    forwarded.once('error', () => outgoing.destroy());
    outgoing.once('close', () => forwarded.destroy());
    incoming.pipe(forwarded);
  }
}
