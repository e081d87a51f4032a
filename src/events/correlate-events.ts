/**
 * Fewer, fuller events: first many similar ones become one, then repeats are counted into one object, then what is still
 * too much about one object is held back. Each step is a function of what is remembered under one key. The rules and
 * numbers are those of client-go's `EventCorrelator`; time is monotonic, so that a clock set back changes nothing.
 */
import type { Event } from '../api/event.ts';

/** The 10th distinct message about the same thing is the first combined one (`defaultAggregateMaxEvents`). */
export const similarMax = 10;
/** Similar events further apart than this are not combined (`defaultAggregateIntervalInSeconds`). */
export const similarWindowMs = 600_000;
/** Events about one object at once (`defaultSpamBurst`), */
export const spamBurst = 25;
/** and one more per so long (`defaultSpamQPS`). */
export const spamRefillMs = 300_000;
export const combinedPrefix = '(combined from similar events): ';

/** What a broadcaster may do otherwise (client-go `CorrelatorOptions`). Absent or 0: the default. */
export interface CorrelatorOptions {
  /** Keys remembered of each kind; `maxLruCacheEntries`. */
  readonly entriesMax?: number;
  readonly similarMax?: number;
  readonly similarWindowMs?: number;
  readonly spamBurst?: number;
  readonly spamRefillMs?: number;
  /** Events under one key are combined. */
  readonly similarKey?: (event: Event) => string;
  readonly combinedMessage?: (event: Event) => string;
  /** Events under one key share one allowance. */
  readonly spamKey?: (event: Event) => string;
}

/** Distinct messages seen under one aggregate key, oldest first. */
export interface Similarity {
  readonly messages: readonly string[];
  readonly lastAtMs: number;
}

/** Is this event to be told alone, or combined with its like? (`EventAggregator.EventAggregate`) */
export function correlateSimilar(
  known: Similarity | undefined,
  message: string,
  nowMs: number,
  options: Pick<CorrelatorOptions, 'similarMax' | 'similarWindowMs'> = {},
): { readonly similarity: Similarity; readonly combined: boolean } {
  const fresh = known === undefined || nowMs - known.lastAtMs > (options.similarWindowMs || similarWindowMs);
  const before = fresh ? [] : known.messages;
  const messages = before.includes(message) ? before : [...before, message];
  const combined = messages.length >= (options.similarMax || similarMax);
  // The reference forgets an arbitrary one; the oldest is as good, and always the same.
  return { similarity: { messages: combined ? messages.slice(1) : messages, lastAtMs: nowMs }, combined };
}

/** The event that stands for many. It starts a count of its own, and says nothing of who reported. */
export function deriveCombinedEvent(event: Event, name: string, message: string = combinedMessage(event)): Event {
  const { apiVersion, kind, metadata, involvedObject, type, reason, source, lastTimestamp, eventTime } = event;
  return {
    ...(apiVersion === undefined ? {} : { apiVersion }),
    ...(kind === undefined ? {} : { kind }),
    metadata: { name, ...(metadata.namespace === undefined ? {} : { namespace: metadata.namespace }) },
    involvedObject,
    reason,
    message,
    source,
    firstTimestamp: lastTimestamp,
    lastTimestamp,
    count: 1,
    type,
    eventTime,
    reportingComponent: '',
    reportingInstance: '',
  };
}

/** `EventAggregatorByReasonMessageFunc`. */
export function combinedMessage({ message }: Event): string {
  return `${combinedPrefix}${message}`;
}

/** The object on the server that repeats are counted into. */
export interface Tally {
  readonly name: string;
  readonly firstTimestamp: string | null;
  readonly count: number;
}

/** What a repeat changes, as a strategic merge patch. */
export interface EventPatch {
  readonly count: number;
  readonly lastTimestamp: string | null;
  readonly message: string;
}

/** Counts an event into the one it repeats, if there is one (`eventLogger.eventObserve`). */
export function correlateRepeat(
  known: Tally | undefined,
  event: Event,
): { readonly tally: Tally; readonly event: Event; readonly patch: EventPatch | undefined } {
  const { metadata, firstTimestamp, lastTimestamp, message } = event;
  if (known === undefined)
    return { tally: { name: metadata.name ?? '', firstTimestamp, count: event.count }, event, patch: undefined };
  const tally = { ...known, count: known.count + 1 };
  return {
    tally,
    event: {
      ...event,
      count: tally.count,
      firstTimestamp: tally.firstTimestamp,
      metadata: { ...metadata, name: tally.name },
    },
    patch: { count: tally.count, lastTimestamp, message },
  };
}

/** One object's token bucket, as the time at which it will be full again: exact, whatever happens in between. */
export interface Allowance {
  readonly fullAtMs: number;
}

/** May one more be told about this object? (`EventSourceObjectSpamFilter.Filter`) */
export function correlateSpam(
  known: Allowance | undefined,
  nowMs: number,
  options: Pick<CorrelatorOptions, 'spamBurst' | 'spamRefillMs'> = {},
): { readonly allowance: Allowance; readonly allowed: boolean } {
  const [burst, refillMs] = [options.spamBurst || spamBurst, options.spamRefillMs || spamRefillMs];
  const fullAtMs = known === undefined ? nowMs : Math.max(nowMs, known.fullAtMs);
  const allowed = fullAtMs - nowMs <= (burst - 1) * refillMs;
  return { allowance: { fullAtMs: allowed ? fullAtMs + refillMs : fullAtMs }, allowed };
}

/** Who tells of what, for every key below. */
function about({ source, involvedObject }: Event): readonly unknown[] {
  const { kind, namespace, name, uid, apiVersion } = involvedObject;
  return [source.component, source.host, kind, namespace, name, uid, apiVersion];
}

/** Events under one key are similar: they differ in nothing but their message (`EventAggregatorByReasonFunc`). */
export function similarKey(event: Event): string {
  const { type, reason, reportingComponent, reportingInstance } = event;
  return JSON.stringify([...about(event), type, reason, reportingComponent, reportingInstance]);
}

/** Events under one key are the same event (`getEventKey`). */
export function repeatKey(event: Event): string {
  const { involvedObject, type, reason, message } = event;
  return JSON.stringify([...about(event), involvedObject.fieldPath, type, reason, message]);
}

/** Events under one key share one allowance. Its type is part of it, lest chatter use up what a warning needs (`getSpamKey`). */
export function spamKey(event: Event): string {
  return JSON.stringify([...about(event), event.type]);
}
