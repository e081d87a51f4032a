// An HTTPS proxy in front of a real kube-apiserver. It terminates TLS, forwards headers (including bearer tokens) and bytes
// of any content type, streams watches, records every request, and injects the faults of its rules. Connections and single
// responses can also be frozen: the kernel acknowledges bytes, but nothing is answered.
import { Agent, createServer, request as httpsRequest, type Server } from 'node:https';
import type { ClientRequest, IncomingMessage, ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { ActiveFault, encodeAnswer, type FaultAnswer, type FaultRule } from './fault-rules.ts';

interface FaultProxyOptions {
  readonly upstream: {
    readonly url: string;
    /** CA of the server, PEM. */
    readonly ca: string;
  };
  /** Serving certificate and key of the proxy, PEM. */
  readonly cert: string;
  readonly key: string;
}

/** A request that arrived at the proxy. Times are on the clock of `performance.now()`. */
export interface ProxiedRequest {
  readonly method: string;
  /** With its query. */
  readonly path: string;
  readonly body: string;
  readonly atMs: number;
  /** What was injected; `frozen` on a frozen connection. */
  readonly fault: string | undefined;
  /** When it was sent to the server. */
  forwardedAtMs?: number;
  /** The server's answer. */
  upstreamStatus?: number;
  upstreamEndedAtMs?: number;
  /** What the client was answered, if anything. */
  status?: number;
}

/** Responses that were in flight when they were frozen. */
interface FrozenAnswers {
  readonly count: number;
  /** Closes their connections. */
  cut(): void;
}

interface Exchange {
  readonly record: ProxiedRequest;
  readonly socket: Socket;
  readonly incoming: IncomingMessage;
  readonly outgoing: ServerResponse;
  readonly body: Buffer;
  frozen: boolean;
  /** Delay of each chunk of the response. */
  lagMs: number;
}

const hopByHop: ReadonlySet<string> = new Set(['connection', 'keep-alive', 'transfer-encoding', 'host']);

export class FaultProxy {
  readonly requests: ProxiedRequest[] = [];
  readonly #options: FaultProxyOptions;
  readonly #server: Server;
  readonly #agent: Agent;
  readonly #sockets = new Set<Socket>();
  readonly #frozenSockets = new WeakSet<Socket>();
  readonly #exchanges = new Set<Exchange>();
  readonly #stopped = new AbortController();
  #faults: ActiveFault[] = [];

  private constructor(options: FaultProxyOptions) {
    this.#options = options;
    this.#agent = new Agent({ keepAlive: true, ca: options.upstream.ca });
    const { cert, key } = options;
    this.#server = createServer({ cert, key, requestTimeout: 0, keepAliveTimeout: 0 }, (incoming, outgoing) => {
      void this.#serve(incoming, outgoing);
    });
    this.#server.on('secureConnection', (socket: Socket) => this.#keep(socket));
  }

  /** Listens on a free port of 127.0.0.1. */
  static async start(options: FaultProxyOptions): Promise<FaultProxy> {
    const proxy = new FaultProxy(options);
    await new Promise<void>((resolve) => proxy.#server.listen(0, '127.0.0.1', resolve));
    return proxy;
  }

  get url(): string {
    return `https://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** All requests except reads, in the order of arrival. */
  get writes(): readonly ProxiedRequest[] {
    return this.requests.filter(({ method }) => method !== 'GET');
  }

  /** Open connections of clients, frozen ones included. */
  get connections(): number {
    return this.#sockets.size;
  }

  /** Adds a rule. The newest rule that matches a request applies. */
  inject(rule: FaultRule): ActiveFault {
    const fault = new ActiveFault(rule, performance.now());
    this.#faults = [fault, ...this.#faults];
    return fault;
  }

  /**
   * Makes all open connections half-open: nothing that arrives on them is forwarded or answered, and their watches deliver
   * nothing. New connections work. Requests that were already forwarded are executed.
   */
  freezeConnections(): void {
    for (const socket of this.#sockets) this.#frozenSockets.add(socket);
    for (const exchange of this.#exchanges) exchange.frozen = true;
  }

  /** Freezes only the responses in flight whose request path matches, such as one watch. */
  freezeAnswers(path: RegExp): FrozenAnswers {
    const frozen = [...this.#exchanges].filter(({ record }) => path.test(record.path));
    for (const exchange of frozen) exchange.frozen = true;
    return {
      count: frozen.length,
      cut: () => {
        for (const { socket } of frozen) socket.destroy();
      },
    };
  }

  /** Delays the responses in flight whose request path matches, in the same order: a lagging watch. */
  lagAnswers(path: RegExp, ms: number): void {
    for (const exchange of this.#exchanges) if (path.test(exchange.record.path)) exchange.lagMs = ms;
  }

  /** Ends all faults and closes every connection. */
  async stop(): Promise<void> {
    for (const fault of this.#faults) fault.remove();
    this.#stopped.abort();
    for (const socket of this.#sockets) socket.destroy();
    this.#agent.destroy();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  #keep(socket: Socket): void {
    this.#sockets.add(socket);
    socket.on('error', () => socket.destroy());
    socket.on('close', () => this.#sockets.delete(socket));
  }

  async #serve(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
    const body = await bytesOf(incoming);
    if (body === undefined) return;
    const exchange = this.#begin(incoming, outgoing, body);
    if (exchange.record.fault === 'frozen') return;
    const fault = exchange.fault;
    if (fault === undefined) return this.#forward(exchange);
    await this.#carryOut(fault, exchange);
  }

  #begin(incoming: IncomingMessage, outgoing: ServerResponse, body: Buffer): Exchange & { fault?: ActiveFault } {
    const atMs = performance.now();
    const { method = '', url: path = '', socket } = incoming;
    const facts = { method, path, body: body.toString('utf8') };
    const frozen = this.#frozenSockets.has(socket);
    const fault = frozen ? undefined : this.#faults.find((candidate) => candidate.take(facts, atMs));
    const record: ProxiedRequest = { ...facts, atMs, fault: frozen ? 'frozen' : nameOf(fault) };
    this.requests.push(record);
    const exchange = { record, socket, incoming, outgoing, body, frozen, lagMs: 0 };
    this.#exchanges.add(exchange);
    outgoing.once('close', () => this.#exchanges.delete(exchange));
    return fault === undefined ? exchange : Object.assign(exchange, { fault });
  }

  async #carryOut(active: ActiveFault, exchange: Exchange): Promise<void> {
    const { fault } = active;
    switch (fault.kind) {
      case 'answer':
        return this.#answer(fault, exchange);
      case 'hang':
        return;
      case 'cut':
        exchange.socket.destroy();
        return;
      case 'delay':
        await sleep(fault.ms, undefined, { signal: this.#stopped.signal }).catch(() => undefined);
        return this.#forward(exchange);
      case 'hold':
        await active.removed;
        return this.#forward(exchange);
      case 'lose-answer':
        return this.#forwardAndCut(exchange);
    }
  }

  #answer(answer: FaultAnswer, { outgoing, record }: Exchange): void {
    const { code, headers, body } = encodeAnswer(answer);
    record.status = code;
    outgoing.writeHead(code, headers).end(body);
  }

  #forward(exchange: Exchange): void {
    const { outgoing, record } = exchange;
    const upstream = this.#ask(exchange);
    if (upstream === undefined) return;
    upstream.on('error', () => exchange.frozen || outgoing.destroy());
    upstream.on('response', (answer) => relay(answer, exchange));
    // A server executes a write although its client has disconnected; a watch without a client is closed.
    if (record.method === 'GET') outgoing.once('close', () => upstream.destroy());
  }

  #forwardAndCut(exchange: Exchange): void {
    const upstream = this.#ask(exchange);
    upstream?.on('error', () => exchange.socket.destroy());
    upstream?.on('response', (answer) => {
      answer.on('end', () => exchange.socket.destroy()).resume();
    });
  }

  #ask({ incoming, record, body }: Exchange): ClientRequest | undefined {
    if (this.#stopped.signal.aborted) return undefined;
    record.forwardedAtMs = performance.now();
    const headers = endToEnd(incoming.headers);
    const url = `${this.#options.upstream.url}${record.path}`;
    const upstream = httpsRequest(url, { method: record.method, headers, agent: this.#agent });
    upstream.on('response', (answer) => {
      record.upstreamStatus = answer.statusCode ?? 0;
      answer.on('end', () => {
        record.upstreamEndedAtMs = performance.now();
      });
    });
    upstream.end(body);
    return upstream;
  }
}

function relay(answer: IncomingMessage, exchange: Exchange): void {
  const { outgoing, record } = exchange;
  answer.on('error', () => exchange.frozen || outgoing.destroy());
  if (!exchange.frozen) {
    record.status = answer.statusCode ?? 0;
    outgoing.writeHead(record.status, endToEnd(answer.headers));
    outgoing.flushHeaders();
  }
  const pass = (act: () => void): void => {
    const unlessFrozen = (): void => (exchange.frozen ? undefined : act());
    if (exchange.lagMs === 0) unlessFrozen();
    else setTimeout(unlessFrozen, exchange.lagMs);
  };
  answer.on('data', (chunk: Buffer) => pass(() => outgoing.write(chunk)));
  answer.on('end', () => pass(() => outgoing.end()));
}

function nameOf(active: ActiveFault | undefined): string | undefined {
  if (active === undefined) return undefined;
  const { fault } = active;
  return fault.kind === 'answer' ? `answer ${fault.code} ${fault.form}` : fault.kind;
}

function endToEnd(headers: IncomingMessage['headers']): Record<string, string | string[]> {
  const kept = Object.entries(headers).flatMap(([name, value]) =>
    hopByHop.has(name) || value === undefined ? [] : [[name, value] as const],
  );
  return Object.fromEntries(kept);
}

/** Undefined if the client disconnects before it has sent the whole body. */
async function bytesOf(incoming: IncomingMessage): Promise<Buffer | undefined> {
  const chunks: Buffer[] = [];
  try {
    for await (const chunk of incoming) chunks.push(Buffer.from(chunk as Uint8Array));
    return Buffer.concat(chunks);
  } catch {
    return undefined;
  }
}
