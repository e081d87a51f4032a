import { ApiError, apiReason } from '../api/api-error.ts';
import type { Event } from '../api/event.ts';
import type { Clock } from '../ports/clock.ts';
import type { KubeWriter } from '../ports/kube-writer.ts';
import type { Logger } from '../ports/logger.ts';
import type { Random } from '../ports/random.ts';
import type { CorrelatedEvent } from './event-correlator.ts';

/** Tries for one event, all together (client-go `maxTriesPerEvent`). */
export const triesMax = 12;
/** Between tries (`defaultSleepDuration`); the first wait is anything up to it, lest all clients come back at once. */
export const retryMs = 10_000;
/** One request that is not answered for so long counts as lost. */
export const requestMsMax = 10_000;

/** All that events need of the API server. */
export type EventApi = Pick<KubeWriter, 'create' | 'patch'>;

/** `unfinished`: called off before the end; it may be tried again, as a whole. */
export type Delivery = 'written' | 'rejected' | 'unreachable' | 'unfinished';

export interface EventSinkOptions {
  readonly api: EventApi;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
}

/** Writes one event at a time, with patience (client-go `recordToSink`). Never rejects. */
export class EventSink {
  readonly #options: EventSinkOptions;
  #lastTried: string | undefined;

  constructor(options: EventSinkOptions) {
    this.#options = options;
  }

  /**
   * Writes the event, or its patch where it repeats one. What the server answers is final; only a failure on the way is
   * tried again, up to `tries` times in all. Ends soon after the signal aborts.
   */
  async deliver(correlated: CorrelatedEvent, tries: number, signal: AbortSignal): Promise<Delivery> {
    const { clock, random } = this.#options;
    for (let failures = 1; !signal.aborted; failures++) {
      const delivery = await this.#tryOnce(correlated, signal);
      if (delivery !== 'unreachable' || failures >= tries) return delivery;
      await clock.sleep(failures === 1 ? retryMs * random.next() : retryMs, signal);
    }
    return 'unfinished';
  }

  async #tryOnce(correlated: CorrelatedEvent, signal: AbortSignal): Promise<Delivery> {
    const { name } = correlated.event.metadata;
    const again = this.#lastTried === name;
    this.#lastTried = name;
    try {
      await this.#within(signal, (limited) => this.#write(correlated, limited));
      return 'written';
    } catch (error) {
      if (signal.aborted) return 'unfinished';
      return this.#judge(error, correlated.event, again);
    }
  }

  /** A repeat whose object is gone is written as a new one, with its full count. */
  async #write({ event, patch }: CorrelatedEvent, signal: AbortSignal): Promise<void> {
    if (patch !== undefined && (await this.#patched(event, patch, signal))) return;
    await this.#options.api.create('events', event, { signal });
  }

  async #patched(event: Event, body: unknown, signal: AbortSignal): Promise<boolean> {
    const { name = '', namespace = '' } = event.metadata;
    try {
      await this.#options.api.patch('events', { namespace, name }, { type: 'strategic-merge', body }, { signal });
      return true;
    } catch (error) {
      if (apiReason(error) === 'not-found') return false;
      throw error;
    }
  }

  #judge(error: unknown, event: Event, again: boolean): Delivery {
    const fields = { event: event.metadata.name, about: event.reason, reason: apiReason(error), error: String(error) };
    if (!isAnswer(error)) {
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
