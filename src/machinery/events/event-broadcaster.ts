import type { Event } from '../api/event.ts';
import type { BroadcasterOptions } from './broadcaster.ts';
import { buildEvent, describeProblem, type EventSource } from './build-event.ts';
import { type CorrelatedEvent, EventCorrelator } from './event-correlator.ts';
import { coreBehavior, type Settled } from './event-sink.ts';
import { QueueBroadcaster } from './queue-broadcaster.ts';
import { LruMap } from '../queueing/lru-map.ts';

/** Maximum number of sources with correlation state; the least recently used one is evicted. */
const sourcesMaxDefault = 16_384;

export interface EventBroadcasterOptions extends BroadcasterOptions {
  /** Maximum number of keys of each kind that a source correlates. */
  readonly entriesMax?: number;
  readonly sourcesMax?: number;
}

/**
 * Broadcaster of core/v1 Events, with correlation. Each source has a correlator of its own, so that in a process with the
 * sources of many machines none uses up the rate limit of another.
 */
export class EventBroadcaster extends QueueBroadcaster<Event, CorrelatedEvent> {
  readonly #entriesMax: number | undefined;
  readonly #correlators: LruMap<EventCorrelator>;

  constructor(options: EventBroadcasterOptions) {
    super(options, { build: buildEvent, describeProblem, behavior: coreBehavior });
    this.#entriesMax = options.entriesMax;
    this.#correlators = new LruMap(options.sourcesMax || sourcesMaxDefault);
  }

  /** Correlates only when the event leaves the queue, so that counts increase in the order in which they are written. */
  protected override nextWrite(): CorrelatedEvent | undefined {
    for (let item = this.queue.take(); item !== undefined; item = this.queue.take()) {
      const { event, source } = item;
      const correlated = this.#correlatorOf(source).correlate(event, this.options.clock.monotonicMs());
      if (correlated !== 'spam') return correlated;
      this.queue.done();
      this.queue.drop('spam', { event: event.metadata.name }, 'event dropped: rate limit of its object exceeded');
    }
    return undefined;
  }

  protected override settle({ event }: CorrelatedEvent, delivery: Settled): void {
    this.queue.done();
    if (delivery !== 'written') this.queue.drop(delivery, { event: event.metadata.name }, 'event not written');
  }

  #correlatorOf({ component, host }: EventSource): EventCorrelator {
    const key = JSON.stringify([component, host]);
    const known = this.#correlators.get(key);
    if (known !== undefined) return known;
    const correlator = new EventCorrelator((objectName) => this.names.next(objectName), this.#entriesMax);
    this.#correlators.set(key, correlator);
    return correlator;
  }
}
