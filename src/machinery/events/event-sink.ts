import { ApiError, apiReason } from '../api/api-error.ts';
import type { KubeObject } from '../api/meta.ts';
import type { Clock } from '../ports/clock.ts';
import type { KubeWriter } from '../ports/kube-writer.ts';
import type { Logger } from '../ports/logger.ts';
import type { Random } from '../ports/random.ts';
import { callWithin } from '../supervision/call-within.ts';

/** Maximum number of tries for one event (client-go `maxTriesPerEvent`). */
export const triesMax = 12;
/** Delay between tries (`defaultSleepDuration`). */
const retryMs = 10_000;
/** A request without a response within this time counts as lost. */
const requestMsMax = 10_000;
/** Minimum delay after a response with Retry-After, and the maximum share of jitter added to that delay. */
const retryAfterMsMin = 1_000;
const retryAfterJitter = 0.2;
/** Maximum share of jitter added to the delays of events.k8s.io/v1 (`wait.Jitter`). */
const retryJitter = 0.25;

/** The API calls that events need. */
export type EventApi = Pick<KubeWriter, 'create' | 'patch'>;

/** `unfinished`: aborted before a final result; the whole event may be tried again. */
type Delivery = 'written' | 'rejected' | 'unreachable' | 'unfinished';

/** A final result. */
export type Settled = Exclude<Delivery, 'unfinished'>;

/** One event to write: whole, or as a patch that is tried first if it repeats a stored one. */
export interface EventWrite {
  readonly event: KubeObject & { readonly reason: string };
  readonly patch: object | undefined;
  /** A lower maximum number of tries for this event. */
  readonly triesMax?: number;
}

/** Differences between the two APIs. */
export interface SinkBehavior {
  readonly resource: 'events' | 'events.events.k8s.io';
  /** Delay after this number of failures, in milliseconds. `chance`: in [0, 1). */
  retryAfterMs(failures: number, chance: number): number;
  /** Retries the patch when the create after a patch of a missing event finds that the event exists (`tools/events` `recordEvent`). */
  readonly patchesAfterConflict: boolean;
}

/** client-go `tools/record`: the first delay is a random share of the usual one, so that clients do not retry in step. */
export const coreBehavior: SinkBehavior = {
  resource: 'events',
  retryAfterMs: (failures, chance) => (failures === 1 ? retryMs * chance : retryMs),
  patchesAfterConflict: false,
};

/** client-go `tools/events`. */
export const eventV1Behavior: SinkBehavior = {
  resource: 'events.events.k8s.io',
  retryAfterMs: (_failures, chance) => retryMs * (1 + chance * retryJitter),
  patchesAfterConflict: true,
};

/** Result of one try, and the delay that the server requested. */
interface TryResult {
  readonly delivery: Delivery;
  readonly retryAfterMs?: number | undefined;
}

interface EventSinkOptions {
  readonly api: EventApi;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
}

/** Writes one event at a time, with retries (client-go `recordToSink`). Never rejects. */
export class EventSink {
  readonly #options: EventSinkOptions;
  readonly #behavior: SinkBehavior;
  #lastTried: string | undefined;

  constructor(options: EventSinkOptions, behavior: SinkBehavior) {
    this.#options = options;
    this.#behavior = behavior;
  }

  /**
   * Writes the event, or its patch if it repeats one. Transport failures, responses with Retry-After and 401 responses
   * are retried, up to `tries` times in all; every other response is final. Ends soon after the signal aborts.
   */
  async deliver(write: EventWrite, tries: number, signal: AbortSignal): Promise<Delivery> {
    for (let failures = 1; !signal.aborted; failures++) {
      const { delivery, retryAfterMs } = await this.#tryOnce(write, signal);
      if (delivery !== 'unreachable' || failures >= tries) return delivery;
      await this.#options.clock.sleep(this.#waitMs(failures, retryAfterMs), signal);
    }
    return 'unfinished';
  }

  #waitMs(failures: number, retryAfterMs: number | undefined): number {
    const chance = this.#options.random.next();
    if (retryAfterMs === undefined) return this.#behavior.retryAfterMs(failures, chance);
    return Math.max(retryAfterMsMin, retryAfterMs) * (1 + retryAfterJitter * chance);
  }

  async #tryOnce(write: EventWrite, signal: AbortSignal): Promise<TryResult> {
    const { name } = write.event.metadata;
    const again = this.#lastTried === name;
    this.#lastTried = name;
    try {
      await callWithin({ clock: this.#options.clock, ms: requestMsMax, signal }, (limited) =>
        this.#write(write, limited),
      );
      return { delivery: 'written' };
    } catch (error) {
      if (signal.aborted) return { delivery: 'unfinished' };
      return { delivery: this.#classify(error, write, again), retryAfterMs: retryAfterMsOf(error) };
    }
  }

  /** A repeat whose stored event is gone is written as a new event, with its full count. */
  async #write({ event, patch }: EventWrite, signal: AbortSignal): Promise<void> {
    if (patch !== undefined && (await this.#tryPatch(event, patch, signal))) return;
    await this.#options.api.create(this.#behavior.resource, event, { signal });
  }

  async #tryPatch({ metadata }: KubeObject, body: object, signal: AbortSignal): Promise<boolean> {
    const { name = '', namespace = '' } = metadata;
    const patch = { type: 'strategic-merge', body } as const;
    try {
      await this.#options.api.patch(this.#behavior.resource, { namespace, name }, patch, { signal });
      return true;
    } catch (error) {
      if (apiReason(error) === 'not-found') return false;
      throw error;
    }
  }

  #classify(error: unknown, { event, patch }: EventWrite, again: boolean): Delivery {
    const fields = { event: event.metadata.name, about: event.reason, reason: apiReason(error), error: String(error) };
    const alreadyExists = patch !== undefined && apiReason(error) === 'already-exists';
    if (!isFinal(error) || (alreadyExists && this.#behavior.patchesAfterConflict)) {
      this.#options.logger.debug(fields, 'writing an event failed');
      return 'unreachable';
    }
    // The previous try was stored although its response was lost: names are used once, so the stored object is this event.
    if (again && apiReason(error) === 'already-exists') return 'written';
    this.#options.logger[isExpected(error) ? 'debug' : 'warn'](fields, 'event rejected by the API server');
    return 'rejected';
  }
}

/** A final response, or a request that cannot be made. A 401 is not final: the next request reads the credentials again. */
function isFinal(error: unknown): boolean {
  if (!(error instanceof ApiError)) return false;
  return (
    (error.code > 0 && error.code !== 401 && retryAfterMsOf(error) === undefined) || error.reason === 'bad-request'
  );
}

/** The delay in milliseconds that the server requested; undefined without one. */
function retryAfterMsOf(error: unknown): number | undefined {
  if (!(error instanceof ApiError)) return undefined;
  return error.code === 429 || error.code >= 500 ? error.retryAfterMs : undefined;
}

/** Rejections that are part of normal operation: a namespace that is being deleted accepts no new events. */
function isExpected(error: unknown): boolean {
  if (!(error instanceof ApiError)) return false;
  const causes = error.status?.details?.causes ?? [];
  return error.reason === 'already-exists' || causes.some((cause) => cause.reason === 'NamespaceTerminating');
}
