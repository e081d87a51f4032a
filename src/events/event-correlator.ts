import type { Event } from '../api/event.ts';
import {
  type Allowance,
  combinedMessage,
  correlateRepeat,
  correlateSimilar,
  correlateSpam,
  type CorrelatorOptions,
  deriveCombinedEvent,
  type EventPatch,
  repeatKey,
  type Similarity,
  similarKey,
  spamKey,
  type Tally,
} from './correlate-events.ts';
import { LruMap } from './lru-map.ts';

/** Of each kind of memory, so many keys; whatever was not mentioned for longest starts over (`maxLruCacheEntries`). */
export const correlatorEntriesMax = 4_096;

/** What to write: the whole event, and the patch to try first where it repeats one that is there. */
export interface CorrelatedEvent {
  readonly event: Event;
  readonly patch: EventPatch | undefined;
}

/** Remembers what was told, to tell it better: see `correlate-events.ts` for the rules. */
export class EventCorrelator {
  readonly #nameFor: (objectName: string) => string;
  readonly #options: CorrelatorOptions;
  readonly #similarities: LruMap<Similarity>;
  readonly #tallies: LruMap<Tally>;
  readonly #allowances: LruMap<Allowance>;

  constructor(nameFor: (objectName: string) => string, options: CorrelatorOptions = {}) {
    const entriesMax = options.entriesMax || correlatorEntriesMax;
    this.#nameFor = nameFor;
    this.#options = options;
    this.#similarities = new LruMap(entriesMax);
    this.#tallies = new LruMap(entriesMax);
    this.#allowances = new LruMap(entriesMax);
  }

  /** The event as it should be written, or `spam`. Spam is counted all the same: a later repeat carries the full count. */
  correlate(recorded: Event, nowMs: number): CorrelatedEvent | 'spam' {
    const { event, key } = this.#combine(recorded, nowMs);
    const counted = correlateRepeat(this.#tallies.get(key), event);
    this.#tallies.set(key, counted.tally);
    return this.#allow(recorded, nowMs) ? { event: counted.event, patch: counted.patch } : 'spam';
  }

  #combine(event: Event, nowMs: number): { readonly event: Event; readonly key: string } {
    const key = (this.#options.similarKey ?? similarKey)(event);
    const known = this.#similarities.get(key);
    const { similarity, combined } = correlateSimilar(known, event.message, nowMs, this.#options);
    this.#similarities.set(key, similarity);
    if (!combined) return { event, key: repeatKey(event) };
    const message = (this.#options.combinedMessage ?? combinedMessage)(event);
    return { event: deriveCombinedEvent(event, this.#nameFor(event.involvedObject.name), message), key };
  }

  #allow(event: Event, nowMs: number): boolean {
    const key = (this.#options.spamKey ?? spamKey)(event);
    const { allowance, allowed } = correlateSpam(this.#allowances.get(key), nowMs, this.#options);
    this.#allowances.set(key, allowance);
    return allowed;
  }
}
