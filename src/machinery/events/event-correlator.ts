import type { Event } from '../api/event.ts';
import {
  type SpamRecord,
  correlateRepeat,
  correlateSimilar,
  correlateSpam,
  combineEvents,
  type EventPatch,
  repeatKey,
  type AggregateRecord,
  similarKey,
  spamKey,
  type EventLog,
} from './correlate-events.ts';
import { LruMap } from '../queueing/lru-map.ts';

/** Maximum keys in each LRU cache; the least recently used one is evicted (`maxLruCacheEntries`). */
export const correlatorEntriesMax = 4_096;

/** Event to write: the whole event, and the patch to try first if it repeats a stored one. */
export interface CorrelatedEvent {
  readonly event: Event;
  readonly patch: EventPatch | undefined;
}

/** Correlates the events of one source: see `correlate-events.ts` for the rules. */
export class EventCorrelator {
  readonly #nameFor: (objectName: string) => string;
  readonly #aggregates: LruMap<AggregateRecord>;
  readonly #eventLogs: LruMap<EventLog>;
  readonly #spamRecords: LruMap<SpamRecord>;

  /** `entriesMax` limits the keys of each kind. */
  constructor(nameFor: (objectName: string) => string, entriesMax: number = correlatorEntriesMax) {
    this.#nameFor = nameFor;
    this.#aggregates = new LruMap(entriesMax);
    this.#eventLogs = new LruMap(entriesMax);
    this.#spamRecords = new LruMap(entriesMax);
  }

  /** The event to write, or `spam`. Spam is counted all the same: a later repeat carries the full count. */
  correlate(recorded: Event, nowMs: number): CorrelatedEvent | 'spam' {
    const { event, key } = this.#aggregate(recorded, nowMs);
    const counted = correlateRepeat(this.#eventLogs.get(key), event);
    this.#eventLogs.set(key, counted.log);
    return this.#admit(recorded, nowMs) ? { event: counted.event, patch: counted.patch } : 'spam';
  }

  #aggregate(event: Event, nowMs: number): { readonly event: Event; readonly key: string } {
    const key = similarKey(event);
    const known = this.#aggregates.get(key);
    const { record, combined } = correlateSimilar(known, event.message, nowMs);
    this.#aggregates.set(key, record);
    if (!combined) return { event, key: repeatKey(event) };
    return { event: combineEvents(event, this.#nameFor(event.involvedObject.name)), key };
  }

  #admit(event: Event, nowMs: number): boolean {
    const key = spamKey(event);
    const { record, allowed } = correlateSpam(this.#spamRecords.get(key), nowMs);
    this.#spamRecords.set(key, record);
    return allowed;
  }
}
