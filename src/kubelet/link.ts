import { ApiError } from '../api/api-error.ts';
import type { KubeObject } from '../api/meta.ts';
import type { ResourceName } from '../api/resources.ts';
import type { Clock } from '../ports/clock.ts';
import type {
  KubeReader,
  ListOptions,
  ListPage,
  ObjectName,
  WatchEvent,
  WatchOptions,
  WatchStream,
} from '../ports/kube-reader.ts';
import type { DeleteOptions, KubeWriter, PatchType, WriteOptions } from '../ports/kube-writer.ts';

/** Whether a node can be reached at all, for whoever shows it things that do not come as answers to its requests. */
export interface Cable {
  readonly isCut: boolean;
  /** Calls back each time the cable is in again. Returns the way to leave. */
  onRestored(listener: () => void): () => void;
}

export interface LinkOptions {
  readonly api: KubeReader & KubeWriter;
  readonly clock: Clock;
  /** How long a request into the dark lasts before it is given up. */
  readonly requestTimeoutMs: number;
}

/**
 * One node's cable to the API server. Cut, it behaves as a network that swallows packets does: nobody says no, requests
 * hang until their deadline and then reject with `timeout` (a request that was on its way may have been carried out,
 * only its answer is lost). When the cable is in again, what still hangs rejects with `unavailable`, as a connection
 * that turns out to be dead does, and later requests pass.
 */
export class Link implements KubeReader, KubeWriter, Cable {
  readonly #options: LinkOptions;
  readonly #restoredListeners = new Set<() => void>();
  #cuts = 0;
  #isCut = false;

  constructor(options: LinkOptions) {
    this.#options = options;
  }

  get isCut(): boolean {
    return this.#isCut;
  }

  /** Pulls the cable. A cable that is out already stays out. */
  cut(): void {
    if (!this.#isCut) this.#cuts += 1;
    this.#isCut = true;
  }

  /** Puts the cable in again. */
  restore(): void {
    if (!this.#isCut) return;
    this.#isCut = false;
    for (const listener of this.#restoredListeners) listener();
  }

  onRestored(listener: () => void): () => void {
    this.#restoredListeners.add(listener);
    return () => {
      this.#restoredListeners.delete(listener);
    };
  }

  get(
    resource: ResourceName,
    name: ObjectName,
    options: { readonly resourceVersion?: string; readonly signal: AbortSignal },
  ): Promise<KubeObject> {
    return this.#carry(options.signal, () => this.#options.api.get(resource, name, options));
  }

  list(resource: ResourceName, options: ListOptions & { readonly signal: AbortSignal }): Promise<ListPage> {
    return this.#carry(options.signal, () => this.#options.api.list(resource, options));
  }

  /** The stream stalls while the cable is out; after that it is dead, which shows when the next events would come. */
  async watch(resource: ResourceName, options: WatchOptions & { readonly signal: AbortSignal }): Promise<WatchStream> {
    const stream = await this.#carry(options.signal, () => this.#options.api.watch(resource, options));
    return this.#carryStream(stream, options.signal, this.#cuts);
  }

  create(resource: ResourceName, object: KubeObject, options: WriteOptions): Promise<KubeObject> {
    return this.#carry(options.signal, () => this.#options.api.create(resource, object, options));
  }

  replace(resource: ResourceName, object: KubeObject, options: WriteOptions): Promise<KubeObject> {
    return this.#carry(options.signal, () => this.#options.api.replace(resource, object, options));
  }

  patch(
    resource: ResourceName,
    name: ObjectName,
    patch: { readonly type: PatchType; readonly body: unknown },
    options: WriteOptions,
  ): Promise<KubeObject> {
    return this.#carry(options.signal, () => this.#options.api.patch(resource, name, patch, options));
  }

  delete(resource: ResourceName, name: ObjectName, options: DeleteOptions): Promise<void> {
    return this.#carry(options.signal, () => this.#options.api.delete(resource, name, options));
  }

  async #carry<T>(signal: AbortSignal, send: () => Promise<T>): Promise<T> {
    const { clock, requestTimeoutMs } = this.#options;
    const deadlineMs = clock.monotonicMs() + requestTimeoutMs;
    if (this.#isCut) throw await this.#hang(deadlineMs, signal);
    const answered = await settle(send());
    if (this.#isCut) throw await this.#hang(deadlineMs, signal);
    if (answered.ok) return answered.value;
    throw answered.error;
  }

  async *#carryStream(
    stream: WatchStream,
    signal: AbortSignal,
    cutsBefore: number,
  ): AsyncGenerator<readonly WatchEvent[]> {
    for await (const batch of stream) {
      if (this.#isCut) throw await this.#hang(Number.POSITIVE_INFINITY, signal);
      if (this.#cuts !== cutsBefore) throw lost();
      yield batch;
    }
  }

  /** Resolves with what the caller will be told: at the deadline, when the cable is in again, or when the caller leaves. */
  async #hang(deadlineMs: number, signal: AbortSignal): Promise<ApiError> {
    const waiting = new AbortController();
    const wake = (): void => {
      waiting.abort();
    };
    const leave = this.onRestored(wake);
    signal.addEventListener('abort', wake);
    if (signal.aborted) wake();
    await this.#options.clock.sleep(deadlineMs - this.#options.clock.monotonicMs(), waiting.signal);
    signal.removeEventListener('abort', wake);
    leave();
    if (signal.aborted) return new ApiError({ reason: 'aborted', message: 'the caller no longer waits' });
    if (!this.#isCut) return lost();
    return new ApiError({ reason: 'timeout', message: 'no answer before the deadline' });
  }
}

type Settled<T> = { readonly ok: true; readonly value: T } | { readonly ok: false; readonly error: unknown };

async function settle<T>(promise: Promise<T>): Promise<Settled<T>> {
  try {
    return { ok: true, value: await promise };
  } catch (error) {
    return { ok: false, error };
  }
}

function lost(): ApiError {
  return new ApiError({ reason: 'unavailable', message: 'the connection was lost' });
}
