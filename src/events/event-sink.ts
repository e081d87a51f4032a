import { ApiError, apiReason } from '../api/api-error.ts';
import type { KubeObject } from '../api/meta.ts';
import type { Clock } from '../ports/clock.ts';
import type { KubeWriter } from '../ports/kube-writer.ts';
import type { Logger } from '../ports/logger.ts';
import type { Random } from '../ports/random.ts';

/** Tries for one event, all together (client-go `maxTriesPerEvent`). */
export const triesMax = 12;
/** Between tries (`defaultSleepDuration`). */
export const retryMs = 10_000;
/** One request that is not answered for so long counts as lost. */
export const requestMsMax = 10_000;
/** Waits of events.k8s.io/v1 are longer by up to this share (`wait.Jitter`). */
const retryJitter = 0.25;

/** All that events need of the API server. */
export type EventApi = Pick<KubeWriter, 'create' | 'patch'>;

/** `unfinished`: called off before the end; it may be tried again, as a whole. */
export type Delivery = 'written' | 'rejected' | 'unreachable' | 'unfinished';

/** How it ended. */
export type Settled = Exclude<Delivery, 'unfinished'>;

/** One event to write: whole, or as a patch that is tried first where it repeats one that is there. */
export interface EventWrite {
  readonly event: KubeObject & { readonly reason: string };
  readonly patch: object | undefined;
  /** Where it is worth fewer tries than others. */
  readonly triesMax?: number;
}

/** What the two APIs do differently. */
export interface SinkManner {
  readonly resource: 'events' | 'events.events.k8s.io';
  /** How long to wait after so many failures. `chance`: from 0 up to 1. */
  retryAfterMs(failures: number, chance: number): number;
  /** What was not there to be patched, and then was there after all, is patched again (`tools/events` `recordEvent`). */
  readonly patchesWhatAppears: boolean;
}

/** client-go `tools/record`: the first wait is anything up to the usual one, lest all clients come back at once. */
export const coreManner: SinkManner = {
  resource: 'events',
  retryAfterMs: (failures, chance) => (failures === 1 ? retryMs * chance : retryMs),
  patchesWhatAppears: false,
};

/** client-go `tools/events`. */
export const newerManner: SinkManner = {
  resource: 'events.events.k8s.io',
  retryAfterMs: (_failures, chance) => retryMs * (1 + chance * retryJitter),
  patchesWhatAppears: true,
};

export interface EventSinkOptions {
  readonly api: EventApi;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
}

/** Writes one event at a time, with patience (client-go `recordToSink`). Never rejects. */
export class EventSink {
  readonly #options: EventSinkOptions;
  readonly #manner: SinkManner;
  #lastTried: string | undefined;

  constructor(options: EventSinkOptions, manner: SinkManner) {
    this.#options = options;
    this.#manner = manner;
  }

  /**
   * Writes the event, or its patch where it repeats one. What the server answers is final; only a failure on the way is
   * tried again, up to `tries` times in all. Ends soon after the signal aborts.
   */
  async deliver(write: EventWrite, tries: number, signal: AbortSignal): Promise<Delivery> {
    const { clock, random } = this.#options;
    for (let failures = 1; !signal.aborted; failures++) {
      const delivery = await this.#tryOnce(write, signal);
      if (delivery !== 'unreachable' || failures >= tries) return delivery;
      await clock.sleep(this.#manner.retryAfterMs(failures, random.next()), signal);
    }
    return 'unfinished';
  }

  async #tryOnce(write: EventWrite, signal: AbortSignal): Promise<Delivery> {
    const { name } = write.event.metadata;
    const again = this.#lastTried === name;
    this.#lastTried = name;
    try {
      await this.#within(signal, (limited) => this.#write(write, limited));
      return 'written';
    } catch (error) {
      if (signal.aborted) return 'unfinished';
      return this.#judge(error, write, again);
    }
  }

  /** A repeat whose object is gone is written as a new one, with its full count. */
  async #write({ event, patch }: EventWrite, signal: AbortSignal): Promise<void> {
    if (patch !== undefined && (await this.#patched(event, patch, signal))) return;
    await this.#options.api.create(this.#manner.resource, event, { signal });
  }

  async #patched({ metadata }: KubeObject, body: object, signal: AbortSignal): Promise<boolean> {
    const { name = '', namespace = '' } = metadata;
    const patch = { type: 'strategic-merge', body } as const;
    try {
      await this.#options.api.patch(this.#manner.resource, { namespace, name }, patch, { signal });
      return true;
    } catch (error) {
      if (apiReason(error) === 'not-found') return false;
      throw error;
    }
  }

  #judge(error: unknown, { event, patch }: EventWrite, again: boolean): Delivery {
    const fields = { event: event.metadata.name, about: event.reason, reason: apiReason(error), error: String(error) };
    const appeared = patch !== undefined && apiReason(error) === 'already-exists';
    if (!isAnswer(error) || (appeared && this.#manner.patchesWhatAppears)) {
      this.#options.logger.debug(fields, 'could not write an event');
      return 'unreachable';
    }
    // The try before this one arrived though its answer did not: names are given once, so it is this very event.
    if (again && apiReason(error) === 'already-exists') return 'written';
    this.#options.logger[isExpected(error) ? 'debug' : 'warn'](fields, 'the API server rejected an event');
    return 'rejected';
  }

  /** Ends on time though the transport may not listen: a flush has a limit to keep. */
  async #within(signal: AbortSignal, call: (signal: AbortSignal) => Promise<void>): Promise<void> {
    const over = new AbortController();
    const stop = (): void => over.abort();
    signal.addEventListener('abort', stop);
    try {
      await Promise.race([this.#expiry(over.signal), call(over.signal)]);
    } finally {
      signal.removeEventListener('abort', stop);
      stop();
    }
  }

  async #expiry(over: AbortSignal): Promise<never> {
    await this.#options.clock.sleep(requestMsMax, over);
    throw new ApiError({ reason: 'timeout', message: `no answer within ${requestMsMax} ms` });
  }
}

/** The server's word, or a request that cannot even be made, as opposed to a failure on the way. */
function isAnswer(error: unknown): boolean {
  return error instanceof ApiError && (error.code > 0 || error.reason === 'bad-request');
}

/** A namespace that is being deleted takes no events any more. That is no news. */
function isExpected(error: unknown): boolean {
  if (!(error instanceof ApiError)) return false;
  const causes = error.status?.details?.causes ?? [];
  return error.reason === 'already-exists' || causes.some((cause) => cause.reason === 'NamespaceTerminating');
}
