import assert from 'node:assert/strict';
import { ApiError, type ApiReason } from '../../src/machinery/api/api-error.ts';
import type { KubeObject } from '../../src/machinery/api/meta.ts';
import type { ResourceName } from '../../src/machinery/api/resources.ts';
import type {
  KubeReader,
  ListOptions,
  ListPage,
  WatchEvent,
  WatchOptions,
  WatchStream,
} from '../../src/machinery/ports/kube-reader.ts';
import { settled } from './manual-clock.ts';

/** A scripted stream. Ends with `aborted` when the watch's signal aborts. */
export class ScriptedStream {
  readonly #batches: (readonly WatchEvent[])[] = [];
  #ending: { readonly error?: ApiError } | undefined;
  #wake: () => void = () => undefined;
  closed = false;

  constructor(signal: AbortSignal) {
    const abort = (): void => this.#finish({ error: new ApiError({ reason: 'aborted', message: 'aborted' }) });
    if (signal.aborted) abort();
    signal.addEventListener('abort', abort, { once: true });
  }

  /** One batch, as from one chunk of the socket. */
  push(...events: readonly WatchEvent[]): void {
    this.#batches.push(events);
    this.#wake();
  }

  /** Ends cleanly, or with an error. */
  finish(reason?: ApiReason): void {
    this.#finish(reason === undefined ? {} : { error: new ApiError({ reason, message: `scripted ${reason}` }) });
  }

  /** The same as {@link push}; resolves when the reader has processed it. */
  async send(...events: readonly WatchEvent[]): Promise<void> {
    this.push(...events);
    await settled();
  }

  async end(): Promise<void> {
    this.finish();
    await settled();
  }

  async fail(reason: ApiReason): Promise<void> {
    this.finish(reason);
    await settled();
  }

  async *read(): WatchStream {
    try {
      for (;;) {
        const batch = this.#batches.shift();
        if (batch !== undefined) yield batch;
        else if (this.#ending === undefined) await this.#more();
        else if (this.#ending.error === undefined) return;
        else throw this.#ending.error;
      }
    } finally {
      this.closed = true;
    }
  }

  #finish(ending: { readonly error?: ApiError }): void {
    this.#ending ??= ending;
    this.#wake();
  }

  #more(): Promise<void> {
    return new Promise((resolve) => {
      this.#wake = resolve;
    });
  }
}

interface WatchCall {
  readonly verb: 'watch';
  readonly resource: ResourceName;
  readonly options: WatchOptions & { readonly signal: AbortSignal };
  accept(): Promise<ScriptedStream>;
  refuse(error: ApiError): Promise<void>;
}

export interface ListCall {
  readonly verb: 'list';
  readonly resource: ResourceName;
  readonly options: ListOptions & { readonly signal: AbortSignal };
  answer(page: ListPage): Promise<void>;
  refuse(error: ApiError): Promise<void>;
}

/** An API server whose responses are given by the test, one call after the other. */
export class ScriptedReader implements KubeReader {
  readonly #waiting: (WatchCall | ListCall)[] = [];
  /** Reads of the version of the storage, by the streams that continue from one. */
  readonly checks: ListCall[] = [];
  /** The test answers them; otherwise each has an answer at once, which shows nothing. */
  holdsChecks = false;
  calls = 0;

  get(): Promise<KubeObject> {
    return Promise.reject(new ApiError({ reason: 'not-found', message: 'nothing is scripted for get' }));
  }

  list(resource: ResourceName, options: ListOptions & { readonly signal: AbortSignal }): Promise<ListPage> {
    const { promise, resolve, reject } = Promise.withResolvers<ListPage>();
    const call = { verb: 'list' as const, resource, options };
    const list: ListCall = { ...call, answer: async (page) => then(() => resolve(page)), refuse: refuser(reject) };
    if (options.limit !== 1) this.#arrive(list);
    else if (this.holdsChecks) this.checks.push(list);
    else resolve({ metadata: {}, items: [] });
    rejectOnAbort(options.signal, reject);
    return promise;
  }

  watch(resource: ResourceName, options: WatchOptions & { readonly signal: AbortSignal }): Promise<WatchStream> {
    const { promise, resolve, reject } = Promise.withResolvers<WatchStream>();
    const accept = async (): Promise<ScriptedStream> => {
      const stream = new ScriptedStream(options.signal);
      resolve(stream.read());
      await settled();
      return stream;
    };
    this.#arrive({ verb: 'watch', resource, options, accept, refuse: refuser(reject) });
    rejectOnAbort(options.signal, reject);
    return promise;
  }

  /** Unanswered calls. */
  get waiting(): number {
    return this.#waiting.length;
  }

  /** The next call, which must be a watch. */
  nextWatch(): WatchCall {
    const call = this.#waiting.shift();
    assert.equal(call?.verb, 'watch', 'a watch is asked for');
    return call;
  }

  /** The next call, which must be a list. */
  nextList(): ListCall {
    const call = this.#waiting.shift();
    assert.equal(call?.verb, 'list', 'a list is asked for');
    return call;
  }

  #arrive(call: WatchCall | ListCall): void {
    this.calls += 1;
    this.#waiting.push(call);
  }
}

function refuser(reject: (error: unknown) => void): (error: ApiError) => Promise<void> {
  return (error) => then(() => reject(error));
}

async function then(act: () => void): Promise<void> {
  act();
  await settled();
}

function rejectOnAbort(signal: AbortSignal, reject: (error: unknown) => void): void {
  const abort = (): void => reject(new ApiError({ reason: 'aborted', message: 'aborted' }));
  if (signal.aborted) abort();
  signal.addEventListener('abort', abort, { once: true });
}
