/**
 * Event correlation: many similar events become one combined event, repeats are counted into one object, and events
 * beyond the rate limit of their object are dropped. Each step is a function of the state under one key. Rules and
 * numbers are those of client-go's `EventCorrelator`; time is monotonic, so that a clock set back changes nothing.
 */
import type { Event } from '../api/event.ts';

/** The 10th distinct message under one aggregate key is the first combined one (`defaultAggregateMaxEvents`). */
export const similarMax = 10;
/** Similar events further apart than this are not combined (`defaultAggregateIntervalInSeconds`). */
export const similarWindowMs = 600_000;
/** Burst of events about one object (`defaultSpamBurst`), */
export const spamBurst = 25;
/** and one more event per this period (`defaultSpamQPS`). */
export const spamRefillMs = 300_000;
export const combinedPrefix = '(combined from similar events): ';

/** Distinct messages seen under one aggregate key, oldest first. */
export interface AggregateRecord {
  readonly messages: readonly string[];
  readonly lastAtMs: number;
}

/** Whether the event is recorded alone or combined with similar ones (`EventAggregator.EventAggregate`). */
export function correlateSimilar(
  known: AggregateRecord | undefined,
  message: string,
  nowMs: number,
): { readonly record: AggregateRecord; readonly combined: boolean } {
  const fresh = known === undefined || nowMs - known.lastAtMs > similarWindowMs;
  const before = fresh ? [] : known.messages;
  const messages = before.includes(message) ? before : [...before, message];
  const combined = messages.length >= similarMax;
  // client-go drops an arbitrary message; this drops the oldest, so that the result is deterministic.
  return { record: { messages: combined ? messages.slice(1) : messages, lastAtMs: nowMs }, combined };
}

/** The event that stands for many similar ones. It starts a count of its own and names no reporting component. */
export function combineEvents(event: Event, name: string): Event {
  const { apiVersion, kind, metadata, involvedObject, type, reason, message, source, lastTimestamp, eventTime } = event;
  return {
    ...(apiVersion === undefined ? {} : { apiVersion }),
    ...(kind === undefined ? {} : { kind }),
    metadata: { name, ...(metadata.namespace === undefined ? {} : { namespace: metadata.namespace }) },
    involvedObject,
    reason,
    message: `${combinedPrefix}${message}`,
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

/** The stored object that repeats are counted into. */
export interface EventLog {
  readonly name: string;
  readonly firstTimestamp: string | null;
  readonly count: number;
}

/** The fields that a repeat changes, as a strategic merge patch. */
export interface EventPatch {
  readonly count: number;
  readonly lastTimestamp: string | null;
  readonly message: string;
}

/** Counts an event into the one that it repeats, if any (`eventLogger.eventObserve`). */
export function correlateRepeat(
  known: EventLog | undefined,
  event: Event,
): { readonly log: EventLog; readonly event: Event; readonly patch: EventPatch | undefined } {
  const { metadata, firstTimestamp, lastTimestamp, message } = event;
  if (known === undefined)
    return { log: { name: metadata.name ?? '', firstTimestamp, count: event.count }, event, patch: undefined };
  const log = { ...known, count: known.count + 1 };
  return {
    log,
    event: {
      ...event,
      count: log.count,
      firstTimestamp: log.firstTimestamp,
      metadata: { ...metadata, name: log.name },
    },
    patch: { count: log.count, lastTimestamp, message },
  };
}

/** Token bucket of one object, stored as the time at which it is full again: exact, without periodic refills. */
export interface SpamRecord {
  readonly fullAtMs: number;
}

/** Whether the rate limit of this object admits one more event (`EventSourceObjectSpamFilter.Filter`). */
export function correlateSpam(
  known: SpamRecord | undefined,
  nowMs: number,
): { readonly record: SpamRecord; readonly allowed: boolean } {
  const fullAtMs = known === undefined ? nowMs : Math.max(nowMs, known.fullAtMs);
  const allowed = fullAtMs - nowMs <= (spamBurst - 1) * spamRefillMs;
  return { record: { fullAtMs: allowed ? fullAtMs + spamRefillMs : fullAtMs }, allowed };
}

/** Source and involved object: the common part of every key below. */
function commonKeyParts({ source, involvedObject }: Event): readonly unknown[] {
  const { kind, namespace, name, uid, apiVersion } = involvedObject;
  return [source.component, source.host, kind, namespace, name, uid, apiVersion];
}

/** Events under one key are similar: they differ only in their message (`EventAggregatorByReasonFunc`). */
export function similarKey(event: Event): string {
  const { type, reason, reportingComponent, reportingInstance } = event;
  return JSON.stringify([...commonKeyParts(event), type, reason, reportingComponent, reportingInstance]);
}

/** Events under one key are the same event (`getEventKey`). */
export function repeatKey(event: Event): string {
  const { involvedObject, type, reason, message } = event;
  return JSON.stringify([...commonKeyParts(event), involvedObject.fieldPath, type, reason, message]);
}

/** Events under one key share one token bucket. The type is part of it, so that Normal events cannot use up the tokens of Warning events (`getSpamKey`). */
export function spamKey(event: Event): string {
  return JSON.stringify([...commonKeyParts(event), event.type]);
}
