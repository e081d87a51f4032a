// A client of the API servers in one process: what the HTTP client is in production, over the simulated network. Rate
// limit, retries of reads and the checks before a write are the same code; sockets, encodings and credentials are not
// simulated.
import { ApiError } from '../../machinery/api/api-error.ts';
import { copyJson } from '../../machinery/api/json-values.ts';
import type { KubeObject } from '../../machinery/api/meta.ts';
import type { ResourceName } from '../../machinery/api/resources.ts';
import { mapOf, mapsOf } from '../../machinery/api/json-map.ts';
import type { Taint } from '../../machinery/api/taints.ts';
import type {
  KubeReader,
  ListOptions,
  ListPage,
  ListTaking,
  ObjectName,
  WatchOptions,
  WatchStream,
} from '../../machinery/ports/kube-reader.ts';
import type { DeleteOptions, KubeWriter, PatchType, WriteOptions } from '../../machinery/ports/kube-writer.ts';
import type { Random } from '../../machinery/ports/random.ts';
import { RequestRateLimit } from '../../machinery/supervision/request-rate-limit.ts';
import { readWaitMsMax, retriesMaxDefault, retryWaitMs } from '../../machinery/supervision/request-retry.ts';
import type { SimulatedApiServer } from '../server/api-server.ts';
import type { Requester } from '../server/storage.ts';
import type { Timeline } from '../time/timeline.ts';
import type { VirtualProcess } from '../time/virtual-process.ts';
import { Exchange } from './exchange.ts';
import { ClientStream, FrameSender } from './frame-sender.ts';
import { isWrite, LostConnection, type Network, type RequestLine, undecodable } from './network.ts';

const requestTimeoutMsDefault = 30_000;
const writeTimeoutMsDefault = 10_000;

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
  readonly mayWrite?: (() => boolean) | undefined;
  /** Called for each request when it is sent. */
  readonly onSent: (request: RequestLine) => void;
}

interface Call<T> {
  readonly line: RequestLine;
  readonly options: Pick<WriteOptions, 'signal' | 'stillWanted' | 'lane'>;
  /** Total time that a read may wait for its retries. */
  readonly waitMsMax?: number;
  /** Carries the request out on the server that it reached. */
  readonly carryOut: (server: SimulatedApiServer) => Promise<T>;
}

export class SimulatedClient implements KubeReader, KubeWriter {
  readonly #options: SimulatedClientOptions;
  readonly #limit: RequestRateLimit;
  readonly #connection: string;

  constructor(options: SimulatedClientOptions) {
    this.#options = options;
    this.#connection = `${options.by.process}/${options.by.client}/`;
    this.#limit = new RequestRateLimit({ qps: options.qps, burst: options.burst, clock: options.process });
  }

  get(
    resource: ResourceName,
    name: ObjectName,
    options: { readonly resourceVersion?: string; readonly signal: AbortSignal },
  ): Promise<KubeObject> {
    const line = this.#line('get', resource, name.name);
    const carryOut = async (server: SimulatedApiServer): Promise<KubeObject> => {
      const object = await server.get(resource, name, options.resourceVersion);
      if (this.#options.network.undecodable(line, server.name)?.(object) === true) {
        throw new ApiError({ reason: 'internal', message: 'the object in the response cannot be decoded' });
      }
      return object;
    };
    return this.#send({ line, options, waitMsMax: 0, carryOut });
  }

  async list(
    resource: ResourceName,
    { each, waitMsMax, ...options }: ListOptions & ListTaking & { readonly signal: AbortSignal },
  ): Promise<ListPage> {
    const line = this.#line('list', resource, '');
    const carryOut = async (server: SimulatedApiServer): Promise<ListPage> => {
      const page = await server.list(resource, options);
      const isUndecodable = this.#options.network.undecodable(line, server.name);
      return isUndecodable === undefined ? page : withoutUndecodable(page, isUndecodable);
    };
    const patience = waitMsMax === undefined ? {} : { waitMsMax };
    const page = await this.#send({ line, options, ...patience, carryOut });
    if (each === undefined) return page;
    for (const item of page.items) each(item);
    return { ...page, items: [] };
  }

  async watch(resource: ResourceName, options: WatchOptions & { readonly signal: AbortSignal }): Promise<WatchStream> {
    const stream = new ClientStream();
    const line = this.#line('watch', resource, '');
    const { process, timeline, network } = this.#options;
    const { signal, ...rest } = options;
    const carryOut = async (server: SimulatedApiServer): Promise<void> => {
      const connection = this.#connectionOf(line);
      const frames = new FrameSender({ process, timeline, network, line, connection, server, stream, signal });
      frames.connect(await server.watch(resource, rest, frames));
    };
    await this.#attempt({ line, options, carryOut });
    return stream.read(signal);
  }

  create(resource: ResourceName, object: KubeObject, options: WriteOptions): Promise<KubeObject> {
    const body = copyJson(object);
    const line = this.#line('create', resource, object.metadata.name ?? '', options.subresource);
    return this.#send({ line, options, carryOut: (server) => server.create(line.by, resource, body) });
  }

  replace(resource: ResourceName, object: KubeObject, options: WriteOptions): Promise<KubeObject> {
    const body = copyJson(object);
    const line = this.#line('replace', resource, object.metadata.name ?? '', options.subresource);
    return this.#send({ line, options, carryOut: (server) => server.replace(line.by, resource, body, options) });
  }

  patch(
    resource: ResourceName,
    name: ObjectName,
    patch: { readonly type: PatchType; readonly body: unknown },
    options: WriteOptions,
  ): Promise<KubeObject> {
    const { subresource } = options;
    const body = { ...patch, body: copyJson(patch.body), subresource };
    const shown = { taints: taintsIn(patch.body), setsNotReady: setsNotReady(patch.body) };
    const line = { ...this.#line('patch', resource, name.name, subresource), ...shown };
    return this.#send({ line, options, carryOut: (server) => server.patch(line.by, resource, name, body) });
  }

  delete(resource: ResourceName, name: ObjectName, options: DeleteOptions): Promise<void> {
    const line = { ...this.#line('delete', resource, name.name), uid: options.uid };
    return this.#send({ line, options, carryOut: (server) => server.delete(line.by, resource, name, options) });
  }

  evict(pod: ObjectName, options: DeleteOptions): Promise<void> {
    const line = { ...this.#line('evict', 'pods', pod.name), uid: options.uid };
    return this.#send({ line, options, carryOut: (server) => server.evict(line.by, pod, options) });
  }

  #line(verb: RequestLine['verb'], resource: ResourceName, name: string, subresource?: 'status'): RequestLine {
    return { by: this.#options.by, verb, resource, name, subresource };
  }

  /** With the retries of the HTTP client. */
  async #send<T>(call: Call<T>): Promise<T> {
    const { signal, lane } = call.options;
    const { random, process, retriesMax = retriesMaxDefault } = this.#options;
    let waitMsLeft = call.waitMsMax ?? readWaitMsMax;
    for (let retries = 0; ; retries += 1) {
      await this.#limit.pass(signal, lane);
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
        await process.sleep(waitMs, signal);
      }
    }
  }

  #attempt<T>(call: Call<T>): Promise<T> {
    const { line, carryOut } = call;
    const { signal } = call.options;
    if (signal.aborted) return Promise.reject(abortedError());
    const refusal = this.#refusal(call);
    if (refusal !== undefined) return Promise.reject(refusal);
    const { process, timeline, network, onSent } = this.#options;
    onSent(line);
    const connection = this.#connectionOf(line);
    const timeoutMs = this.#timeoutMs(line);
    return new Exchange({ process, timeline, network, line, connection, timeoutMs, signal, carryOut }).run();
  }

  /** Each client has connections of its own, and each watch another one. */
  #connectionOf({ verb, resource }: RequestLine): string {
    return verb === 'watch' ? `${this.#connection}${resource}` : this.#connection;
  }

  /** The wait for the rate limit or a retry may have outlasted the right to write. */
  #refusal({ line, options }: Call<unknown>): ApiError | undefined {
    if (!isWrite(line)) return undefined;
    if (this.#options.mayWrite?.() === false) return abortedError('this process may no longer write');
    return options.stillWanted?.() === false ? abortedError('the write is no longer needed') : undefined;
  }

  #timeoutMs(line: RequestLine): number {
    const { requestTimeoutMs = requestTimeoutMsDefault } = this.#options;
    return isWrite(line) ? Math.min(requestTimeoutMs, writeTimeoutMsDefault) : requestTimeoutMs;
  }
}

function withoutUndecodable(page: ListPage, isUndecodable: (object: KubeObject) => boolean): ListPage {
  return {
    metadata: page.metadata,
    items: page.items.filter((item) => !isUndecodable(item)),
    undecodable: page.items.filter(isUndecodable).map(undecodable),
  };
}

function abortedError(message = 'aborted by the caller'): ApiError {
  return new ApiError({ reason: 'aborted', message });
}

/** Undefined: the patch does not change them. */
function taintsIn(body: unknown): readonly Taint[] | undefined {
  if (typeof body !== 'object' || body === null || !('spec' in body)) return undefined;
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the patches of nodes are those of the controller
  return (body.spec as { readonly taints?: readonly Taint[] | null }).taints ?? undefined;
}

function setsNotReady(body: unknown): boolean {
  const { conditions } = mapOf(mapOf(body)['status']);
  return mapsOf(conditions).some(({ type, status }) => type === 'Ready' && status === 'False');
}
