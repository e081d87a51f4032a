import { ApiError } from '../../../machinery/api/api-error.ts';
import type { KubeObject } from '../../../machinery/api/meta.ts';
import type { ResourceName } from '../../../machinery/api/resources.ts';
import type { Clock } from '../../../machinery/ports/clock.ts';
import type { KubeReader, ObjectName } from '../../../machinery/ports/kube-reader.ts';
import type { DeleteOptions, KubeWriter, PatchType, WriteOptions } from '../../../machinery/ports/kube-writer.ts';
import type { Random } from '../../../machinery/ports/random.ts';
import { abortReason } from '../../../machinery/supervision/abort.ts';
import { decideTransit, isHeartbeat, type NetworkRequest, type NetworkRule, type Transit } from './network-rule.ts';

/** The API server as one kubelet uses it: lists and changes come from the informers that its fleet shares. */
export type NodeApi = Pick<KubeReader, 'get'> & Omit<KubeWriter, 'evict'>;

/** State of a node's connection, for components that deliver data to it without requests. */
export interface NodeConnection {
  readonly isCut: boolean;
  /** Called each time the connection is restored. Returns the function that unsubscribes. */
  onRestored(listener: () => void): () => void;
}

interface FaultInjectingClientOptions {
  readonly api: NodeApi;
  /** A separate client for heartbeats, so that no other request delays them; `api` when absent. */
  readonly heartbeatApi?: NodeApi | undefined;
  /** Called for each request when it is answered, lost or cancelled. */
  readonly note?: (request: NetworkRequest, succeeded: boolean) => void;
  readonly clock: Clock;
  /** Timeout of a request without a response. */
  readonly requestTimeoutMs: number;
}

const cutRule: NetworkRule = { about: { class: 'all' }, effect: { kind: 'swallow' }, stallsWatches: true };
const noRules: readonly NetworkRule[] = [];
const noChance: Random = { next: () => 0 };

/**
 * One node's client of the API server, with fault injection. Where requests are swallowed it behaves like a network
 * that loses packets: requests hang until their deadline and then reject with `timeout` (a request that was already
 * sent may have been carried out, only its response is lost). When the fault ends, pending requests reject with
 * `unavailable`, as on a connection that turns out to be dead, and later requests pass.
 */
export class FaultInjectingClient implements NodeApi, NodeConnection {
  readonly #options: FaultInjectingClientOptions;
  // A fleet has thousands of these, and few have listeners.
  #restoredListeners: Set<() => void> | undefined;
  #changeListeners: Set<() => void> | undefined;
  #rules = noRules;
  #random = noChance;
  #isDisconnected = false;

  constructor(options: FaultInjectingClientOptions) {
    this.#options = options;
  }

  /** The node's watches stall. */
  get isCut(): boolean {
    return this.#isDisconnected || this.#rules.some(({ stallsWatches }) => stallsWatches);
  }

  /** Disconnects the node: no request passes and watches stall. Idempotent. */
  cut(): void {
    this.#change(() => {
      this.#isDisconnected = true;
    });
  }

  /** Connects the node again; the rules still apply. */
  restore(): void {
    this.#change(() => {
      this.#isDisconnected = false;
    });
  }

  /** Replaces the rules; they apply in this order. `random` drives the effects that are probabilistic. */
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
    return this.#send({ verb: 'get', resource }, options.signal, (api) => api.get(resource, name, options));
  }

  create(resource: ResourceName, object: KubeObject, options: WriteOptions): Promise<KubeObject> {
    return this.#send({ verb: 'create', resource }, options.signal, (api) => api.create(resource, object, options));
  }

  replace(resource: ResourceName, object: KubeObject, options: WriteOptions): Promise<KubeObject> {
    return this.#send({ verb: 'replace', resource }, options.signal, (api) => api.replace(resource, object, options));
  }

  patch(
    resource: ResourceName,
    name: ObjectName,
    patch: { readonly type: PatchType; readonly body: unknown },
    options: WriteOptions,
  ): Promise<KubeObject> {
    return this.#send({ verb: 'patch', resource }, options.signal, (api) => api.patch(resource, name, patch, options));
  }

  delete(resource: ResourceName, name: ObjectName, options: DeleteOptions): Promise<void> {
    return this.#send({ verb: 'delete', resource }, options.signal, (api) => api.delete(resource, name, options));
  }

  get #isClear(): boolean {
    return !this.#isDisconnected && this.#rules.length === 0;
  }

  async #send<T>(request: NetworkRequest, signal: AbortSignal, send: (api: NodeApi) => Promise<T>): Promise<T> {
    const { note, api, heartbeatApi } = this.#options;
    const client = heartbeatApi !== undefined && isHeartbeat(request) ? heartbeatApi : api;
    try {
      const response = await this.#exchange(request, signal, () => send(client));
      note?.(request, true);
      return response;
    } catch (error) {
      note?.(request, false);
      throw error;
    }
  }

  /** Without a fault the request passes unchanged. */
  async #exchange<T>(request: NetworkRequest, signal: AbortSignal, send: () => Promise<T>): Promise<T> {
    const deadlineMs = this.#options.clock.monotonicMs() + this.#options.requestTimeoutMs;
    if (!this.#isClear) await this.#transmit(request, 'request', deadlineMs, signal);
    const answer = await send().then(
      (value) => ({ value }),
      (error: unknown) => ({ error }),
    );
    if (!this.#isClear) await this.#transmit(request, 'response', deadlineMs, signal);
    if ('error' in answer) throw answer.error;
    return answer.value;
  }

  /** Resolves when the message has arrived. */
  async #transmit(
    request: NetworkRequest,
    leg: 'request' | 'response',
    deadlineMs: number,
    signal: AbortSignal,
  ): Promise<void> {
    const transit = this.#transit(request, leg);
    switch (transit.kind) {
      case 'lost':
        throw await this.#waitForTimeout(request, deadlineMs, signal);
      case 'reset':
        throw new ApiError({ reason: 'unavailable', message: 'the connection was reset' });
      case 'refused':
        throw new ApiError({ reason: transit.reason, code: transit.code, message: `answered ${transit.code}` });
      case 'pass':
        return this.#delay(request, transit.delayMs, deadlineMs, signal);
    }
  }

  #transit(request: NetworkRequest, leg: 'request' | 'response'): Transit {
    const rules = this.#isDisconnected ? [cutRule] : this.#rules;
    return decideTransit(rules, request, leg, () => this.#random.next());
  }

  async #delay(request: NetworkRequest, delayMs: number, deadlineMs: number, signal: AbortSignal): Promise<void> {
    if (delayMs === 0) return;
    const { clock } = this.#options;
    const leftMs = isHeartbeat(request) ? deadlineMs - clock.monotonicMs() : Number.POSITIVE_INFINITY;
    await clock.sleep(Math.min(delayMs, leftMs), signal);
    if (signal.aborted) throw cancelledError();
    if (delayMs >= leftMs) throw timeoutError();
  }

  /** Resolves with the error for the caller: at the deadline, when the fault ends, or when the caller cancels. */
  async #waitForTimeout(request: NetworkRequest, deadlineMs: number, signal: AbortSignal): Promise<ApiError> {
    const { clock } = this.#options;
    while (!signal.aborted && clock.monotonicMs() < deadlineMs) {
      await this.#changed(deadlineMs - clock.monotonicMs(), signal);
      if (this.#transit(request, 'request').kind !== 'lost')
        return signal.aborted ? cancelledError() : connectionLostError();
    }
    return signal.aborted ? cancelledError() : timeoutError();
  }

  /** Resolves at the next change of the rules or the connection, after `ms`, or when the signal aborts. */
  async #changed(ms: number, signal: AbortSignal): Promise<void> {
    const waiting = new AbortController();
    const wake = (): void => {
      waiting.abort(abortReason);
    };
    this.#changeListeners ??= new Set();
    this.#changeListeners.add(wake);
    signal.addEventListener('abort', wake);
    if (signal.aborted) wake();
    await this.#options.clock.sleep(ms, waiting.signal);
    signal.removeEventListener('abort', wake);
    this.#changeListeners.delete(wake);
  }

  #change(update: () => void): void {
    const wasCut = this.isCut;
    update();
    for (const listener of this.#changeListeners ?? []) listener();
    if (this.isCut || !wasCut) return;
    for (const listener of this.#restoredListeners ?? []) listener();
  }
}

function connectionLostError(): ApiError {
  return new ApiError({ reason: 'unavailable', message: 'the connection was lost' });
}

function timeoutError(): ApiError {
  return new ApiError({ reason: 'timeout', message: 'no response before the deadline' });
}

function cancelledError(): ApiError {
  return new ApiError({ reason: 'aborted', message: 'the caller cancelled the request' });
}
