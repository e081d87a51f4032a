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
import type { Random } from '../ports/random.ts';
import { decidePassage, isHeartbeat, type Passage } from './decide-passage.ts';
import type { NetworkRequest, NetworkRule } from './network-rule.ts';

/** Whether a node sees anything at all, for whoever shows it things that do not come as answers to its requests. */
export interface Cable {
  readonly isCut: boolean;
  /** Calls back each time the node can see again. Returns the way to leave. */
  onRestored(listener: () => void): () => void;
}

export interface LinkOptions {
  readonly api: KubeReader & KubeWriter;
  /** A lane of their own for heartbeats, so that nothing else can hold them up; `api` when absent. */
  readonly heartbeatApi?: KubeReader & KubeWriter;
  /** Told of each request when it is answered, lost or given up. */
  readonly note?: (request: NetworkRequest, succeeded: boolean) => void;
  readonly clock: Clock;
  /** How long a request into the dark lasts before it is given up. */
  readonly requestTimeoutMs: number;
}

const cutRule: NetworkRule = { about: { class: 'all' }, effect: { kind: 'swallow' }, blinds: true };
const noRules: readonly NetworkRule[] = [];
const noChance: Random = { next: () => 0 };

/**
 * One node's way to the API server, and what is the matter with it. Where requests are swallowed it behaves as a network
 * that loses packets does: nobody says no, requests hang until their deadline and then reject with `timeout` (a request
 * that was on its way may have been carried out, only its answer is lost). When the way is open again, what still hangs
 * rejects with `unavailable`, as a connection that turns out to be dead does, and later requests pass.
 */
export class Link implements KubeReader, KubeWriter, Cable {
  readonly #options: LinkOptions;
  // A fleet has thousands of these, and few are ever waited for.
  #restoredListeners: Set<() => void> | undefined;
  #changeListeners: Set<() => void> | undefined;
  #rules = noRules;
  #random = noChance;
  #isUnplugged = false;
  #blinds = 0;

  constructor(options: LinkOptions) {
    this.#options = options;
  }

  /** The node sees nothing of what happens. */
  get isCut(): boolean {
    return this.#isUnplugged || this.#rules.some(({ blinds }) => blinds);
  }

  /** Pulls the cable: no request passes and nothing is seen. A cable that is out already stays out. */
  cut(): void {
    this.#change(() => {
      this.#isUnplugged = true;
    });
  }

  /** Puts the cable in again; what rules there are still hold. */
  restore(): void {
    this.#change(() => {
      this.#isUnplugged = false;
    });
  }

  /** From now on these hold, in this order, and no others. `random` decides where one leaves something to chance. */
  setRules(rules: readonly NetworkRule[], random: Random): void {
    this.#change(() => {
      this.#rules = rules;
      this.#random = random;
    });
  }

  onRestored(listener: () => void): () => void {
    this.#restoredListeners ??= new Set();
    this.#restoredListeners.add(listener);
    return () => {
      this.#restoredListeners?.delete(listener);
    };
  }

  get(
    resource: ResourceName,
    name: ObjectName,
    options: { readonly resourceVersion?: string; readonly signal: AbortSignal },
  ): Promise<KubeObject> {
    const request = { verb: 'get', resource } as const;
    return this.#carry(request, options.signal, () => this.#lane(request).get(resource, name, options));
  }

  list(resource: ResourceName, options: ListOptions & { readonly signal: AbortSignal }): Promise<ListPage> {
    const request = { verb: 'list', resource } as const;
    return this.#carry(request, options.signal, () => this.#lane(request).list(resource, options));
  }

  /** The stream stalls while the node sees nothing; after that it is dead, which shows when the next events would come. */
  async watch(resource: ResourceName, options: WatchOptions & { readonly signal: AbortSignal }): Promise<WatchStream> {
    const request = { verb: 'watch', resource } as const;
    const stream = await this.#carry(request, options.signal, () => this.#lane(request).watch(resource, options));
    return this.#carryStream(stream, options.signal, this.#blinds);
  }

  create(resource: ResourceName, object: KubeObject, options: WriteOptions): Promise<KubeObject> {
    const request = { verb: 'create', resource } as const;
    return this.#carry(request, options.signal, () => this.#lane(request).create(resource, object, options));
  }

  replace(resource: ResourceName, object: KubeObject, options: WriteOptions): Promise<KubeObject> {
    const request = { verb: 'replace', resource } as const;
    return this.#carry(request, options.signal, () => this.#lane(request).replace(resource, object, options));
  }

  patch(
    resource: ResourceName,
    name: ObjectName,
    patch: { readonly type: PatchType; readonly body: unknown },
    options: WriteOptions,
  ): Promise<KubeObject> {
    const request = { verb: 'patch', resource } as const;
    return this.#carry(request, options.signal, () => this.#lane(request).patch(resource, name, patch, options));
  }

  delete(resource: ResourceName, name: ObjectName, options: DeleteOptions): Promise<void> {
    const request = { verb: 'delete', resource } as const;
    return this.#carry(request, options.signal, () => this.#lane(request).delete(resource, name, options));
  }

  get #isClear(): boolean {
    return !this.#isUnplugged && this.#rules.length === 0;
  }

  #lane(request: NetworkRequest): KubeReader & KubeWriter {
    const { api, heartbeatApi } = this.#options;
    return heartbeatApi !== undefined && isHeartbeat(request) ? heartbeatApi : api;
  }

  async #carry<T>(request: NetworkRequest, signal: AbortSignal, send: () => Promise<T>): Promise<T> {
    const { note } = this.#options;
    try {
      const answer = await this.#exchange(request, signal, send);
      note?.(request, true);
      return answer;
    } catch (error) {
      note?.(request, false);
      throw error;
    }
  }

  /** An open way costs nothing. */
  async #exchange<T>(request: NetworkRequest, signal: AbortSignal, send: () => Promise<T>): Promise<T> {
    const deadlineMs = this.#options.clock.monotonicMs() + this.#options.requestTimeoutMs;
    if (!this.#isClear) await this.#travel(request, 'request', deadlineMs, signal);
    const answered = await settle(send());
    if (!this.#isClear) await this.#travel(request, 'response', deadlineMs, signal);
    if (answered.ok) return answered.value;
    throw answered.error;
  }

  /** Resolves when the message has arrived. */
  async #travel(
    request: NetworkRequest,
    leg: 'request' | 'response',
    deadlineMs: number,
    signal: AbortSignal,
  ): Promise<void> {
    const passage = this.#passage(request, leg);
    switch (passage.kind) {
      case 'lost':
        throw await this.#hang(request, deadlineMs, signal);
      case 'reset':
        throw new ApiError({ reason: 'unavailable', message: 'the connection was reset' });
      case 'refused':
        throw new ApiError({ reason: passage.reason, code: passage.code, message: `answered ${passage.code}` });
      case 'pass':
        return this.#delay(request, passage.delayMs, deadlineMs, signal);
    }
  }

  #passage(request: NetworkRequest, leg: 'request' | 'response'): Passage {
    const rules = this.#isUnplugged ? [cutRule] : this.#rules;
    return decidePassage(rules, request, leg, () => this.#random.next());
  }

  async #delay(request: NetworkRequest, delayMs: number, deadlineMs: number, signal: AbortSignal): Promise<void> {
    if (delayMs === 0) return;
    const { clock } = this.#options;
    const leftMs = isHeartbeat(request) ? deadlineMs - clock.monotonicMs() : Number.POSITIVE_INFINITY;
    await clock.sleep(Math.min(delayMs, leftMs), signal);
    if (signal.aborted) throw abandoned();
    if (delayMs >= leftMs) throw late();
  }

  async *#carryStream(
    stream: WatchStream,
    signal: AbortSignal,
    blindsBefore: number,
  ): AsyncGenerator<readonly WatchEvent[]> {
    for await (const batch of stream) {
      if (this.isCut) throw await this.#stall(signal);
      if (this.#blinds !== blindsBefore) throw lost();
      yield batch;
    }
  }

  async #stall(signal: AbortSignal): Promise<ApiError> {
    while (this.isCut && !signal.aborted) await this.#changed(Number.POSITIVE_INFINITY, signal);
    return signal.aborted ? abandoned() : lost();
  }

  /** Resolves with what the caller will be told: at the deadline, when the way is open again, or when the caller leaves. */
  async #hang(request: NetworkRequest, deadlineMs: number, signal: AbortSignal): Promise<ApiError> {
    const { clock } = this.#options;
    while (!signal.aborted && clock.monotonicMs() < deadlineMs) {
      await this.#changed(deadlineMs - clock.monotonicMs(), signal);
      if (this.#passage(request, 'request').kind !== 'lost') return signal.aborted ? abandoned() : lost();
    }
    return signal.aborted ? abandoned() : late();
  }

  /** Resolves at the next change of what is the matter, after `ms`, or when the signal aborts. */
  async #changed(ms: number, signal: AbortSignal): Promise<void> {
    const waiting = new AbortController();
    const wake = (): void => {
      waiting.abort();
    };
    this.#changeListeners ??= new Set();
    this.#changeListeners.add(wake);
    signal.addEventListener('abort', wake);
    if (signal.aborted) wake();
    await this.#options.clock.sleep(ms, waiting.signal);
    signal.removeEventListener('abort', wake);
    this.#changeListeners.delete(wake);
  }

  #change(act: () => void): void {
    const wasCut = this.isCut;
    act();
    const { isCut } = this;
    if (isCut && !wasCut) this.#blinds += 1;
    for (const listener of this.#changeListeners ?? []) listener();
    if (isCut || !wasCut) return;
    for (const listener of this.#restoredListeners ?? []) listener();
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

function late(): ApiError {
  return new ApiError({ reason: 'timeout', message: 'no answer before the deadline' });
}

function abandoned(): ApiError {
  return new ApiError({ reason: 'aborted', message: 'the caller no longer waits' });
}
