// A client of the API servers in one process: what the HTTP client is in production, over the simulated network. Rate
// limit, retries of reads and the checks before a write are the same code; sockets, encodings and credentials are not
// simulated.
import { ApiError } from '../../api/api-error.ts';
import type { KubeObject } from '../../api/meta.ts';
import type { ResourceName } from '../../api/resources.ts';
import type {
  KubeReader,
  ListOptions,
  ListPage,
  ListTaking,
  ObjectName,
  WatchEvent,
  WatchOptions,
  WatchStream,
} from '../../ports/kube-reader.ts';
import type { DeleteOptions, KubeWriter, PatchType, WriteOptions } from '../../ports/kube-writer.ts';
import type { Random } from '../../ports/random.ts';
import { RequestRateLimit } from '../../supervision/request-rate-limit.ts';
import { readWaitMsMax, retriesMaxDefault, retryWaitMs } from '../../supervision/request-retry.ts';
import type { SimulatedApiServer } from '../server/api-server.ts';
import type { Requester } from '../server/storage.ts';
import type { Timeline } from '../time/timeline.ts';
import type { VirtualProcess } from '../time/virtual-process.ts';
import { ClientStream } from './client-stream.ts';
import { asDecoded, type Network, type RequestLine, undecodable } from './network.ts';

const requestTimeoutMsDefault = 30_000;
const writeTimeoutMsDefault = 10_000;
/** Changes of a watch that a server repeats at most. */
const repeatedMax = 5;
/** Keeps the order of what is sent on one connection. */
const orderMs = 1e-6;

interface SimulatedClientOptions {
  readonly by: Requester;
  readonly process: VirtualProcess;
  readonly timeline: Timeline;
  readonly network: Network;
  readonly random: Random;
  /** 0: no limit. */
  readonly qps: number;
  readonly burst: number;
  readonly requestTimeoutMs?: number;
  /** Retries of one read. */
  readonly retriesMax?: number;
  /** Called immediately before each write is sent; false fails it with `aborted`. */
  readonly mayWrite?: () => boolean;
  /** Called for each request when it is sent. */
  readonly onSent: (request: RequestLine) => void;
}

interface Call<T> {
  readonly line: RequestLine;
  readonly signal: AbortSignal;
  readonly options?: Pick<WriteOptions, 'stillWanted' | 'lane'>;
  /** Total time that a read may wait for its retries. */
  readonly waitMsMax?: number;
  /** Carries the request out on the server that it reached. */
  readonly carryOut: (server: SimulatedApiServer) => Promise<T>;
}

export class SimulatedClient implements KubeReader, KubeWriter {
  readonly #options: SimulatedClientOptions;
  readonly #limit: RequestRateLimit;

  constructor(options: SimulatedClientOptions) {
    this.#options = options;
    this.#limit = new RequestRateLimit({ qps: options.qps, burst: options.burst, clock: options.process });
  }

  get(
    resource: ResourceName,
    name: ObjectName,
    { resourceVersion, signal }: { readonly resourceVersion?: string; readonly signal: AbortSignal },
  ): Promise<KubeObject> {
    const line = this.#line('get', resource, name.name);
    const carryOut = async (server: SimulatedApiServer): Promise<KubeObject> => {
      const object = await server.get(resource, name, resourceVersion);
      if (this.#options.network.undecodable(line, server.name)?.(object) === true) throw undecodableError();
      return object;
    };
    return this.#send({ line, signal, waitMsMax: 0, carryOut });
  }

  async list(
    resource: ResourceName,
    { signal, each, ...options }: ListOptions & ListTaking & { readonly signal: AbortSignal },
  ): Promise<ListPage> {
    const line = this.#line('list', resource, '');
    const carryOut = async (server: SimulatedApiServer): Promise<ListPage> => {
      const page = await server.list(resource, options);
      const isUndecodable = this.#options.network.undecodable(line, server.name);
      return isUndecodable === undefined ? page : withoutUndecodable(page, isUndecodable);
    };
    const page = await this.#send({ line, signal, carryOut });
    if (each === undefined) return page;
    for (const item of page.items) each(item);
    return { ...page, items: [] };
  }

  async watch(resource: ResourceName, options: WatchOptions & { readonly signal: AbortSignal }): Promise<WatchStream> {
    const stream = new ClientStream();
    const line = this.#line('watch', resource, '');
    const { signal, ...rest } = options;
    const carryOut = async (server: SimulatedApiServer): Promise<void> => {
      const frames = new FrameSender(this.#options, { line, server, stream, signal });
      frames.connect(await server.watch(resource, rest, frames));
    };
    await this.#attempt({ line, signal, carryOut });
    return stream.read(signal);
  }

  create(resource: ResourceName, object: KubeObject, options: WriteOptions): Promise<KubeObject> {
    const body = sent(object);
    const line = this.#line('create', resource, object.metadata.name ?? '', options.subresource);
    const { by } = this.#options;
    return this.#send({ line, ...callOptions(options), carryOut: (server) => server.create(by, resource, body) });
  }

  replace(resource: ResourceName, object: KubeObject, options: WriteOptions): Promise<KubeObject> {
    const body = sent(object);
    const line = this.#line('replace', resource, object.metadata.name ?? '', options.subresource);
    const { by } = this.#options;
    const carryOut = (server: SimulatedApiServer) => server.replace(by, resource, body, options);
    return this.#send({ line, ...callOptions(options), carryOut });
  }

  patch(
    resource: ResourceName,
    name: ObjectName,
    patch: { readonly type: PatchType; readonly body: unknown },
    options: WriteOptions,
  ): Promise<KubeObject> {
    const { subresource } = options;
    const body = { ...patch, body: sent(patch.body), subresource };
    const line = this.#line('patch', resource, name.name, subresource);
    const { by } = this.#options;
    const carryOut = (server: SimulatedApiServer) => server.patch(by, resource, name, body);
    return this.#send({ line, ...callOptions(options), carryOut });
  }

  delete(resource: ResourceName, name: ObjectName, options: DeleteOptions): Promise<void> {
    const { by } = this.#options;
    const { uid, resourceVersion, gracePeriodSeconds } = options;
    const preconditions = {
      uid,
      ...(resourceVersion === undefined ? {} : { resourceVersion }),
      ...(gracePeriodSeconds === undefined ? {} : { gracePeriodSeconds }),
    };
    const carryOut = (server: SimulatedApiServer) => server.delete(by, resource, name, preconditions);
    const line = { ...this.#line('delete', resource, name.name), uid };
    return this.#send({ line, ...callOptions(options), carryOut });
  }

  #line(verb: RequestLine['verb'], resource: ResourceName, name: string, subresource?: 'status'): RequestLine {
    return { by: this.#options.by, verb, resource, name, subresource };
  }

  /** With the retries of the HTTP client. */
  async #send<T>(call: Call<T>): Promise<T> {
    const { random, process, retriesMax = retriesMaxDefault } = this.#options;
    let waitMsLeft = call.waitMsMax ?? readWaitMsMax;
    for (let retries = 0; ; retries += 1) {
      await this.#limit.pass(call.signal, call.options?.lane);
      try {
        return await this.#attempt(call);
      } catch (error) {
        if (!(error instanceof ApiError)) throw error;
        const method = isWrite(call.line) ? 'PATCH' : 'GET';
        const lost = error instanceof LostConnection;
        const attempt = { method, error, lost, renewable: false, retries, retriesMax, waitMsLeft, random };
        const waitMs = retryWaitMs(attempt);
        if (waitMs === undefined) throw error;
        waitMsLeft -= waitMs;
        await process.sleep(waitMs, call.signal);
      }
    }
  }

  #attempt<T>(call: Call<T>): Promise<T> {
    if (call.signal.aborted) return Promise.reject(abortedError());
    const refusal = this.#refusal(call);
    if (refusal !== undefined) return Promise.reject(refusal);
    this.#options.onSent(call.line);
    return new Exchange(this.#options, call, this.#timeoutMs(call.line)).run();
  }

  /** The wait for the rate limit or a retry may have outlasted the right to write. */
  #refusal({ line, options }: Call<unknown>): ApiError | undefined {
    if (!isWrite(line)) return undefined;
    if (this.#options.mayWrite?.() === false) return abortedError('this process may no longer write');
    return options?.stillWanted?.() === false ? abortedError('the write is no longer needed') : undefined;
  }

  #timeoutMs(line: RequestLine): number {
    const { requestTimeoutMs = requestTimeoutMsDefault } = this.#options;
    return isWrite(line) ? Math.min(requestTimeoutMs, writeTimeoutMsDefault) : requestTimeoutMs;
  }
}

/** One attempt at a request: there, carried out, and back. */
class Exchange<T> {
  readonly #options: SimulatedClientOptions;
  readonly #call: Call<T>;
  readonly #timeoutMs: number;
  readonly #outcome = Promise.withResolvers<T>();
  #cleanUp: (() => void)[] = [];
  #isOver = false;

  constructor(options: SimulatedClientOptions, call: Call<T>, timeoutMs: number) {
    this.#options = options;
    this.#call = call;
    this.#timeoutMs = timeoutMs;
  }

  run(): Promise<T> {
    const { process, network, timeline } = this.#options;
    const { signal, line } = this.#call;
    const abort = (): void => this.#fail(abortedError());
    signal.addEventListener('abort', abort);
    const timer = process.after(this.#timeoutMs, () => this.#fail(timeoutError()));
    this.#cleanUp.push(
      () => signal.removeEventListener('abort', abort),
      () => {
        timer.cancelled = true;
      },
    );
    const server = network.serverFor(connectionOf(line));
    const transit = network.transit('request', line, server?.name ?? '');
    timeline.after(transit.delayMs, () => {
      if (transit.isLost) return;
      if (transit.answer !== undefined) return this.#arrive(() => this.#fail(transit.answer ?? timeoutError()));
      if (server === undefined) return this.#arrive(() => this.#fail(refusedError()));
      if (transit.isReset || !server.isUp) return this.#arrive(() => this.#breakConnection());
      void this.#carryOut(server);
    });
    return this.#outcome.promise;
  }

  async #carryOut(server: SimulatedApiServer): Promise<void> {
    this.#cleanUp.push(server.onStop(() => this.#arrive(() => this.#breakConnection())));
    try {
      const value = await this.#call.carryOut(server);
      this.#respond(server, () => this.#outcome.resolve(value));
    } catch (error) {
      this.#respond(server, () => this.#outcome.reject(error));
    }
  }

  #respond(server: SimulatedApiServer, end: () => void): void {
    const { network, timeline } = this.#options;
    const transit = network.transit('response', this.#call.line, server.name);
    if (transit.isLost) return;
    timeline.after(transit.delayMs, () => {
      this.#arrive(() => (transit.isReset ? this.#breakConnection() : this.#settle(end)));
    });
  }

  #breakConnection(): void {
    this.#options.network.forget(connectionOf(this.#call.line));
    this.#fail(new LostConnection(isWrite(this.#call.line)));
  }

  #arrive(run: () => void): void {
    this.#options.process.arrive(run);
  }

  #fail(error: ApiError): void {
    if (error.reason === 'timeout') this.#options.network.forget(connectionOf(this.#call.line));
    this.#settle(() => this.#outcome.reject(error));
  }

  #settle(end: () => void): void {
    if (this.#isOver) return;
    this.#isOver = true;
    for (const clean of this.#cleanUp) clean();
    this.#cleanUp = [];
    end();
  }
}

interface OpenStream {
  readonly line: RequestLine;
  readonly server: SimulatedApiServer;
  readonly stream: ClientStream;
  readonly signal: AbortSignal;
}

/** Sends the frames of one watch to its client, in order. */
class FrameSender {
  readonly #options: SimulatedClientOptions;
  readonly #open: OpenStream;
  #lastAtMs = 0;
  #isBroken = false;
  /** What may be repeated. */
  #recent: readonly WatchEvent[] = [];

  constructor(options: SimulatedClientOptions, open: OpenStream) {
    this.#options = options;
    this.#open = open;
  }

  /** `close` closes the server's end: when the client aborts, and when the server stops. */
  connect(close: () => void): void {
    const { signal, server } = this.#open;
    const { timeline, network } = this.#options;
    const closeLater = (): void => {
      timeline.after(network.latencyMs(), close);
      unsubscribe();
    };
    const unsubscribe = server.onStop(() => this.#break());
    signal.addEventListener('abort', closeLater, { once: true });
  }

  send(events: readonly WatchEvent[]): void {
    if (this.#isBroken) return;
    const transit = this.#options.network.transit('frames', this.#open.line, this.#open.server.name);
    // A lost segment is sent again or breaks the connection: a stream never goes on behind a gap.
    if (transit.isLost) {
      this.#isBroken = true;
      return;
    }
    if (transit.isReset) return this.#break();
    const isUndecodable = this.#options.network.undecodable(this.#open.line, this.#open.server.name);
    const shown = isUndecodable === undefined ? events : events.map((event) => asDecoded(event, isUndecodable));
    this.#deliver(transit.isDuplicated ? [...shown, ...shown, ...this.#recent] : shown, transit.delayMs);
    this.#recent = [...this.#recent, ...shown.filter(isChange)].slice(-repeatedMax);
  }

  end(): void {
    if (!this.#isBroken) this.#later(this.#options.network.latencyMs(), () => this.#open.stream.end('closed'));
    this.#isBroken = true;
  }

  #deliver(events: readonly WatchEvent[], delayMs: number): void {
    this.#later(delayMs, () => this.#open.stream.push(events));
  }

  #break(): void {
    this.#isBroken = true;
    this.#options.network.forget(connectionOf(this.#open.line));
    this.#later(0, () => this.#open.stream.end(new LostConnection(false)));
  }

  #later(delayMs: number, run: () => void): void {
    const { timeline, process } = this.#options;
    this.#lastAtMs = Math.max(this.#lastAtMs + orderMs, timeline.nowMs + delayMs);
    timeline.at(this.#lastAtMs, () => process.arrive(run));
  }
}

function isChange({ type }: WatchEvent): boolean {
  return type === 'ADDED' || type === 'MODIFIED' || type === 'DELETED';
}

/** A connection broke: a read is unavailable, and of a write the outcome is unknown. */
class LostConnection extends ApiError {
  constructor(isWrite: boolean) {
    super({ reason: isWrite ? 'timeout' : 'unavailable', message: 'the connection was lost' });
  }
}

/** Each client has connections of its own, and each watch another one. */
function connectionOf({ by, verb, resource }: RequestLine): string {
  return `${by.process}/${by.client}/${verb === 'watch' ? resource : ''}`;
}

export function isWrite({ verb }: RequestLine): boolean {
  return verb === 'create' || verb === 'replace' || verb === 'patch' || verb === 'delete';
}

function withoutUndecodable(page: ListPage, isUndecodable: (object: KubeObject) => boolean): ListPage {
  return {
    metadata: page.metadata,
    items: page.items.filter((item) => !isUndecodable(item)),
    undecodable: page.items.filter(isUndecodable).map(undecodable),
  };
}

function callOptions(options: WriteOptions | DeleteOptions): Pick<Call<unknown>, 'signal' | 'options'> {
  return { signal: options.signal, options };
}

/** As encoded and decoded: without undefined fields, and not shared with the sender. */
function sent<T>(body: T): T {
  const decoded: T = JSON.parse(JSON.stringify(body));
  return decoded;
}

function abortedError(message = 'aborted by the caller'): ApiError {
  return new ApiError({ reason: 'aborted', message });
}

function undecodableError(): ApiError {
  return new ApiError({ reason: 'internal', message: 'the object in the response cannot be decoded' });
}

function timeoutError(): ApiError {
  return new ApiError({ reason: 'timeout', message: 'no complete response before the timeout' });
}

function refusedError(): ApiError {
  return new ApiError({ reason: 'unavailable', message: 'connection refused' });
}
