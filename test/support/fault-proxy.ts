// A proxy to an API server that injects faults: connections break in every way, freeze without notice, slow down; events
// are duplicated or truncated; responses are errors. It supports HTTP/1.1 reads (GET) and the boundaries of watch events.
// It does only what a plan defines for each request.
import { Agent, type IncomingMessage, request as httpRequest } from 'node:http';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { pause } from './hurried-clock.ts';

/**
 * How the server's side of a connection ends. `clean`: the response is completed. `close`: both directions, in the middle
 * of the response. `half-close`: the server sends no more and still receives. `freeze`: no more bytes in either
 * direction, without notice.
 */
export type Ending = 'clean' | 'close' | 'half-close' | 'reset' | 'freeze';

/**
 * A fault of an open connection in any state. `goodbye`: as in a server shutdown; a watch ends cleanly and its connection
 * is closed, a response in flight is completed with `Connection: close`.
 */
export type Fate = Exclude<Ending, 'clean'> | 'goodbye';

export interface ErrorAnswer {
  readonly code: 410 | 422 | 429 | 500 | 503;
  /** Without it, no Retry-After. */
  readonly retryAfterSeconds?: number;
  /** Plain text instead of a Status, as from a proxy or an overloaded server. */
  readonly plain?: boolean;
}

export interface Break {
  /** Lines of a watch that are forwarded before; for a list or a get each stands for a tenth of the body. */
  readonly afterLines: number;
  /** Half of one more line is forwarded first. */
  readonly midLine: boolean;
  readonly how: Ending;
}

/** The faults of one request and its response; none if empty. */
export interface Plan {
  /** Delay before anything else, in milliseconds. */
  readonly lateMs?: number;
  /** Replaces the server: this response, or the end of the connection without one. */
  readonly instead?: ErrorAnswer | Ending;
  /** The response has `Connection: close`, and the connection is closed after it. */
  readonly lastOnConnection?: boolean;
  readonly breaks?: Break;
  /** After this many lines the server ends the watch with an ERROR event of that code. */
  readonly errorEvent?: { readonly afterLines: number; readonly code: 410 | 429 | 500 };
  /** Delay before each line. */
  readonly slowMs?: number;
  /** After each this many lines, as many earlier ones are repeated: the last ones, or those `behind` lines before them. */
  readonly repeats?: { readonly every: number; readonly lines: number; readonly behind: number };
  /** Number of changes before the server completes the initial state. Not a fault, but rare. */
  readonly changesBeforeStateEnds?: number;
  /** Lines are split into chunks of at most this many bytes. */
  readonly chunkBytes?: number;
  /** The page limit of the request to the server is at most this. */
  readonly pageObjects?: number;
}

export interface ProxiedRequest {
  readonly verb: 'get' | 'list' | 'watch';
  /** Plural. */
  readonly resource: string;
  /** Number of earlier requests with the same verb and resource. */
  readonly ordinal: number;
  /** A watch with sendInitialEvents. */
  readonly initial: boolean;
}

const errorReasons = {
  410: 'Expired',
  422: 'Invalid',
  429: 'TooManyRequests',
  500: 'InternalError',
  503: 'ServiceUnavailable',
} as const;
const crlf = Buffer.from('\r\n');
const newline = 0x0a;

/** A proxy to one API server (plain HTTP, on loopback). */
export class FaultProxy {
  readonly #target: URL;
  readonly #planFor: (request: ProxiedRequest) => Plan;
  readonly #server: Server;
  readonly #agent = new Agent({ keepAlive: true });
  readonly #connections = new Set<ClientConnection>();
  readonly #ordinals = new Map<string, number>();
  readonly #healing = new AbortController();

  private constructor(targetUrl: string, planFor: (request: ProxiedRequest) => Plan) {
    this.#target = new URL(targetUrl);
    this.#planFor = planFor;
    this.#server = createServer({ allowHalfOpen: true, noDelay: true }, (socket) => this.#accept(socket));
  }

  /** Listens on a free port. The plan is called once for each request, in order of arrival. */
  static async start(targetUrl: string, planFor: (request: ProxiedRequest) => Plan): Promise<FaultProxy> {
    const proxy = new FaultProxy(targetUrl, planFor);
    await new Promise<void>((resolve) => proxy.#server.listen(0, '127.0.0.1', resolve));
    return proxy;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** Connections that are open from the clients' point of view. */
  get connections(): number {
    return this.#connections.size;
  }

  /** Those whose last request was a watch that has not ended. */
  get watches(): number {
    return [...this.#connections].filter(({ watching }) => watching).length;
  }

  /** Ends everything that is open in this way. */
  endAll(how: Fate): void {
    for (const connection of this.#connections) {
      if (how === 'goodbye') connection.sayGoodbye();
      else connection.finish(how);
    }
  }

  /** Ends all faults and delays. A frozen connection stays frozen: the client must detect it. */
  heal(): void {
    this.#healing.abort();
  }

  /** Closes everything. Resolves after all sockets are closed. */
  async stop(): Promise<void> {
    this.heal();
    for (const connection of this.#connections) connection.finish('close');
    this.#agent.destroy();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  #accept(socket: Socket): void {
    const connection: ClientConnection = new ClientConnection({
      socket,
      target: this.#target,
      agent: this.#agent,
      healed: this.#healing.signal,
      planFor: (path) => this.#plan(path),
      closed: () => this.#connections.delete(connection),
    });
    this.#connections.add(connection);
  }

  #plan(path: string): PlannedRequest {
    const url = new URL(path, this.#target);
    const kind = kindOf(url);
    const key = `${kind.verb} ${kind.resource}`;
    const ordinal = this.#ordinals.get(key) ?? 0;
    this.#ordinals.set(key, ordinal + 1);
    const request = { ...kind, ordinal };
    return { ...request, url, plan: this.#healing.signal.aborted ? {} : this.#planFor(request) };
  }
}

interface PlannedRequest extends ProxiedRequest {
  readonly url: URL;
  readonly plan: Plan;
}

interface ConnectionOptions {
  readonly socket: Socket;
  readonly target: URL;
  readonly agent: Agent;
  readonly healed: AbortSignal;
  readonly planFor: (path: string) => PlannedRequest;
  readonly closed: () => void;
}

/** One client connection: its requests, one after the other, and their faults. */
class ClientConnection {
  readonly #options: ConnectionOptions;
  readonly #gone = new AbortController();
  #bytes = Buffer.alloc(0);
  #frozen = false;
  #busy = false;
  /** The response headers of a watch were sent, and its last chunk was not. */
  #streaming = false;
  #leaving = false;
  watching = false;

  constructor(options: ConnectionOptions) {
    this.#options = options;
    const { socket } = options;
    // The client may close it at any time: that is part of the test.
    socket.on('error', () => socket.destroy());
    socket.on('close', () => {
      this.#gone.abort();
      options.closed();
    });
    socket.on('end', () => this.#clientEnded());
    socket.on('data', (chunk: Buffer) => this.#take(chunk));
  }

  /** Ends the server's side in any state. */
  finish(how: Exclude<Ending, 'clean'>): void {
    const { socket } = this.#options;
    if (how === 'freeze') this.#frozen = true;
    // Node.js loses a socket that is reset during its half-close: it would never be closed.
    else if (how === 'reset' && !socket.writableEnded) socket.resetAndDestroy();
    else if (how === 'half-close') socket.end();
    else socket.destroy();
  }

  /** No request after the current one is answered on this connection. */
  sayGoodbye(): void {
    this.#leaving = true;
    if (this.#silent) return;
    const ends = this.#streaming || !this.#busy;
    if (this.#streaming) this.#lastChunk();
    if (ends) this.#options.socket.end();
  }

  /** A frozen connection ignores a goodbye, but does not prevent the client's socket from closing. */
  #clientEnded(): void {
    this.#options.socket.destroy();
  }

  #take(chunk: Buffer): void {
    if (this.#frozen) return;
    this.#bytes = Buffer.concat([this.#bytes, chunk]);
    const end = this.#bytes.indexOf('\r\n\r\n');
    if (end < 0 || this.#busy) return;
    const [, path = '/'] = this.#bytes.subarray(0, end).toString('latin1').split(' ', 2);
    const head = this.#bytes.subarray(0, end).toString('latin1').split('\r\n').slice(1);
    this.#bytes = this.#bytes.subarray(end + 4);
    this.#busy = true;
    void this.#serve(this.#options.planFor(path), headersOf(head)).finally(() => {
      this.#busy = false;
      this.#take(Buffer.alloc(0));
    });
  }

  async #serve(request: PlannedRequest, headers: Record<string, string>): Promise<void> {
    const { plan } = request;
    this.watching = request.verb === 'watch';
    if (plan.lateMs !== undefined) await this.#wait(plan.lateMs);
    if (this.#silent) return;
    await (plan.instead === undefined ? this.#forward(request, headers) : this.#answerInstead(plan.instead, plan));
    this.#streaming = false;
    if (!this.#silent) this.watching = false;
    if (this.#isLast(plan) && !this.#silent) this.#options.socket.end();
  }

  #isLast({ lastOnConnection }: Plan): boolean {
    return this.#leaving || lastOnConnection === true;
  }

  #lastHeader(plan: Plan): Record<string, string> {
    return this.#isLast(plan) ? { connection: 'close' } : {};
  }

  /** Nothing sent from now on would be received. */
  get #silent(): boolean {
    const { socket } = this.#options;
    return this.#frozen || socket.destroyed || socket.writableEnded;
  }

  #answerInstead(instead: ErrorAnswer | Ending, plan: Plan): void {
    if (typeof instead === 'object') {
      const [body, headers] = describeError(instead);
      this.#answer(instead.code, body, { ...headers, ...this.#lastHeader(plan) });
    } else this.finish(instead === 'clean' ? 'close' : instead);
  }

  async #forward(request: PlannedRequest, headers: Record<string, string>): Promise<void> {
    const answer = await this.#ask(smallPages(request), headers).catch(() => undefined);
    if (answer === undefined) {
      this.finish('close');
    } else if (request.verb === 'watch' && answer.statusCode === 200) {
      await this.#relayWatch(answer, request.plan).catch(() => this.finish('close'));
    } else {
      await this.#relayWhole(answer, request.plan).catch(() => this.finish('close'));
    }
    answer?.destroy();
  }

  #ask(url: URL, headers: Record<string, string>): Promise<IncomingMessage> {
    const { agent } = this.#options;
    return new Promise((resolve, reject) => {
      const outgoing = httpRequest(url, { agent, headers: { ...headers, host: url.host } }, resolve);
      outgoing.on('error', reject);
      this.#gone.signal.addEventListener('abort', () => outgoing.destroy(), { once: true });
      if (this.#gone.signal.aborted) outgoing.destroy();
      outgoing.end();
    });
  }

  async #relayWhole(answer: IncomingMessage, plan: Plan): Promise<void> {
    const parts: Buffer[] = [];
    for await (const chunk of answer as AsyncIterable<Buffer>) parts.push(chunk);
    const body = Buffer.concat(parts);
    if (this.#silent) return;
    const { breaks } = plan;
    const extra = { ...kept(answer), ...this.#lastHeader(plan) };
    if (breaks === undefined || this.#options.healed.aborted || breaks.how === 'clean') {
      this.#answer(answer.statusCode ?? 500, body, extra);
      return;
    }
    const tenths = Math.min(9, breaks.afterLines);
    this.#head(answer.statusCode ?? 500, { ...extra, 'content-length': String(body.length) });
    this.#write(body.subarray(0, Math.floor((body.length * tenths) / 10)));
    this.finish(breaks.how);
  }

  async #relayWatch(answer: IncomingMessage, plan: Plan): Promise<void> {
    this.#head(200, { ...kept(answer), ...this.#lastHeader(plan), 'transfer-encoding': 'chunked' });
    this.#streaming = !this.#silent;
    const relay = new WatchRelay(plan, {
      write: (bytes) => this.#chunk(bytes),
      finish: (how) => (how === 'clean' ? this.#lastChunk() : this.finish(how)),
      wait: (ms) => this.#wait(ms),
    });
    if (!relay.begin()) return;
    const stateEnd = new StateEnd(plan.changesBeforeStateEnds ?? 0);
    for await (const read of linesOf(answer)) {
      for (const line of stateEnd.pass(read, this.#options.healed.aborted)) {
        if (this.#silent || !(await relay.take(line, this.#options.healed.aborted))) return;
      }
    }
    this.#lastChunk();
  }

  #answer(code: number, body: Buffer, headers: Readonly<Record<string, string>>): void {
    this.#head(code, { ...headers, 'content-length': String(body.length) });
    this.#write(body);
  }

  #head(code: number, headers: Readonly<Record<string, string>>): void {
    const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
    this.#write(Buffer.from(`HTTP/1.1 ${code} Proxied\r\n${lines.join('')}\r\n`));
  }

  #chunk(bytes: Buffer): void {
    this.#write(Buffer.concat([Buffer.from(`${bytes.length.toString(16)}\r\n`), bytes, crlf]));
  }

  #lastChunk(): void {
    this.#streaming = false;
    this.#write(Buffer.from('0\r\n\r\n'));
  }

  #write(bytes: Buffer): void {
    if (!this.#silent) this.#options.socket.write(bytes);
  }

  #wait(ms: number): Promise<void> {
    const { healed } = this.#options;
    if (healed.aborted) return Promise.resolve();
    return pause(ms, AbortSignal.any([healed, this.#gone.signal]));
  }
}

interface RelayEnd {
  readonly write: (bytes: Buffer) => void;
  readonly finish: (how: Ending) => void;
  readonly wait: (ms: number) => Promise<void>;
}

/** The lines of one watch, on their way to the client. */
class WatchRelay {
  readonly #plan: Plan;
  readonly #end: RelayEnd;
  readonly #recent: Buffer[] = [];
  #lines = 0;

  constructor(plan: Plan, end: RelayEnd) {
    this.#plan = plan;
    this.#end = end;
  }

  /** False if the watch ends right after it was opened. */
  begin(): boolean {
    const { breaks } = this.#plan;
    if (breaks === undefined || breaks.afterLines > 0 || breaks.midLine) return true;
    this.#end.finish(breaks.how);
    return false;
  }

  /** False if this was the last one. */
  async take(line: Buffer, healed: boolean): Promise<boolean> {
    const { slowMs } = this.#plan;
    if (slowMs !== undefined) await this.#end.wait(slowMs);
    if (!healed && (this.#breaksAt(line) || this.#endsWithError())) return false;
    this.#write(line);
    this.#lines += 1;
    if (!healed) this.#repeat(line);
    return true;
  }

  #breaksAt(line: Buffer): boolean {
    const { breaks } = this.#plan;
    if (breaks === undefined || this.#lines < breaks.afterLines) return false;
    if (breaks.midLine) this.#end.write(line.subarray(0, line.length >>> 1));
    this.#end.finish(breaks.how);
    return true;
  }

  #endsWithError(): boolean {
    const { errorEvent } = this.#plan;
    if (errorEvent === undefined || this.#lines < errorEvent.afterLines) return false;
    const [body] = describeError(errorEvent);
    this.#end.write(Buffer.from(`{"type":"ERROR","object":${body.toString('utf8')}}\n`));
    this.#end.finish('clean');
    return true;
  }

  #repeat(line: Buffer): void {
    const { repeats } = this.#plan;
    if (repeats === undefined) return;
    this.#recent.push(line);
    if (this.#recent.length > repeats.lines + repeats.behind) this.#recent.shift();
    if (this.#lines % repeats.every !== 0) return;
    for (const again of this.#recent.slice(0, repeats.lines)) this.#write(again);
  }

  #write(line: Buffer): void {
    const { chunkBytes } = this.#plan;
    if (chunkBytes === undefined) return this.#end.write(line);
    for (let at = 0; at < line.length; at += chunkBytes) this.#end.write(line.subarray(at, at + chunkBytes));
  }
}

interface Event {
  readonly type: string;
  readonly object: { readonly metadata?: { resourceVersion?: string } };
}

/** Delays the bookmark that completes the initial state until some changes were sent; it then has their version. */
class StateEnd {
  #changesLeft: number;
  #held: Event | undefined;

  constructor(changes: number) {
    this.#changesLeft = changes;
  }

  /** The lines that may be sent now. */
  pass(line: Buffer, atOnce: boolean): readonly Buffer[] {
    if (this.#held === undefined && !this.#holds(line)) return [line];
    const event = JSON.parse(line.toString('utf8')) as Event;
    if (this.#held === undefined) {
      this.#held = event;
      return [];
    }
    if (event.type === 'BOOKMARK' && !atOnce) return [];
    this.#changesLeft -= 1;
    const { metadata = {} } = this.#held.object;
    metadata.resourceVersion = event.object.metadata?.resourceVersion ?? '';
    return this.#changesLeft > 0 && !atOnce ? [line] : [line, this.#release(this.#held)];
  }

  #holds(line: Buffer): boolean {
    return this.#changesLeft > 0 && line.includes('k8s.io/initial-events-end');
  }

  #release(held: Event): Buffer {
    this.#held = undefined;
    this.#changesLeft = 0;
    return Buffer.from(`${JSON.stringify(held)}\n`);
  }
}

/** Complete lines, newline included; a partial line at the end is dropped. */
async function* linesOf(answer: IncomingMessage): AsyncIterable<Buffer> {
  let left = Buffer.alloc(0);
  for await (const chunk of answer as AsyncIterable<Buffer>) {
    left = Buffer.concat([left, chunk]);
    for (let end = left.indexOf(newline); end >= 0; end = left.indexOf(newline)) {
      yield left.subarray(0, end + 1);
      left = left.subarray(end + 1);
    }
  }
}

function headersOf(lines: readonly string[]): Record<string, string> {
  const named = lines.map((line) => [
    line.slice(0, line.indexOf(':')).toLowerCase(),
    line.slice(line.indexOf(':') + 1),
  ]);
  const hopByHop = new Set(['connection', 'host', 'keep-alive']);
  return Object.fromEntries(
    named.filter(([name = '']) => !hopByHop.has(name)).map(([name, value = '']) => [name, value.trim()]),
  );
}

function kept({ headers }: IncomingMessage): Record<string, string> {
  const names = ['content-type', 'retry-after'];
  return Object.fromEntries(
    names.flatMap((name) => (headers[name] === undefined ? [] : [[name, String(headers[name])]])),
  );
}

function describeError({ code, retryAfterSeconds, plain }: ErrorAnswer): [Buffer, Record<string, string>] {
  const message = `proxy response ${code}`;
  const later = retryAfterSeconds === undefined ? {} : { 'retry-after': String(retryAfterSeconds) };
  if (plain === true) return [Buffer.from(message), { ...later, 'content-type': 'text/plain' }];
  const details = retryAfterSeconds === undefined ? {} : { details: { retryAfterSeconds } };
  const status = { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Failure', message, code, ...details };
  const body = JSON.stringify({ ...status, reason: errorReasons[code] });
  return [Buffer.from(body), { ...later, 'content-type': 'application/json' }];
}

function smallPages({ url, plan }: PlannedRequest): URL {
  const { pageObjects } = plan;
  if (pageObjects === undefined || !url.searchParams.has('limit')) return url;
  const smaller = new URL(url);
  smaller.searchParams.set('limit', String(pageObjects));
  return smaller;
}

const plurals = ['nodes', 'pods', 'leases'];

function kindOf({ pathname, searchParams }: URL): Pick<ProxiedRequest, 'verb' | 'resource' | 'initial'> {
  const words = pathname.split('/');
  const resource = words.findLast((word) => plurals.includes(word)) ?? pathname;
  if (searchParams.get('watch') === 'true') {
    return { verb: 'watch', resource, initial: searchParams.get('sendInitialEvents') === 'true' };
  }
  return { verb: words.at(-1) === resource ? 'list' : 'get', resource, initial: false };
}
