import type { Event } from '../api/event.ts';
import type { EventRecorder } from '../ports/event-recorder.ts';
import type { Broadcaster, BroadcasterOptions } from './broadcaster.ts';
import type { CorrelatorOptions } from './correlate-events.ts';
import { deriveEvent, describeFlaw, type EventSource } from './derive-event.ts';
import { describeEventLine } from './describe-event-line.ts';
import { type CorrelatedEvent, EventCorrelator } from './event-correlator.ts';
import { EventNames } from './event-name.ts';
import { EventQueue, eventQueueMax } from './event-queue.ts';
import { coreManner, EventSink, type Settled } from './event-sink.ts';
import type { EventHandler } from './event-watchers.ts';
import { EventWriter, type WriteSource } from './event-writer.ts';
import { LruMap } from './lru-map.ts';

/** Sources that are remembered; whichever told nothing for longest starts over. */
export const sourcesMaxDefault = 16_384;

export interface EventBroadcasterOptions extends BroadcasterOptions {
  readonly correlator?: CorrelatorOptions;
  readonly sourcesMax?: number;
}

/**
 * Tells in core/v1: one bounded queue, one writer, in order, similar and repeated events made few. Each source has a
 * correlator of its own, so that in a process that speaks for many machines none uses up what another may tell.
 */
export class EventBroadcaster implements Broadcaster {
  readonly #options: EventBroadcasterOptions;
  readonly #names: EventNames;
  readonly #queue: EventQueue<Event>;
  readonly #correlators: LruMap<EventCorrelator>;
  readonly #writer: EventWriter<CorrelatedEvent>;

  constructor(options: EventBroadcasterOptions) {
    const { clock, random, queueMax, sourcesMax } = options;
    this.#options = options;
    this.#names = options.names ?? new EventNames(clock, random);
    this.#correlators = new LruMap(sourcesMax || sourcesMaxDefault);
    this.#queue = new EventQueue({
      ...options,
      names: this.#names,
      queueMax: queueMax || eventQueueMax,
      derive: deriveEvent,
      describeFlaw,
      onAdded: () => this.#writer.wake(),
    });
    this.#writer = new EventWriter(this.#source(), new EventSink(options, coreManner), clock);
  }

  get pending(): number {
    return this.#queue.length;
  }

  recorder(component: string, host: string | undefined = this.#options.host): EventRecorder {
    return this.#queue.recorder({ component, host });
  }

  watch(handler: EventHandler, queueMax?: number): () => void {
    return this.#queue.watchers.add(handler, queueMax);
  }

  startLogging(write: (line: string) => void): () => void {
    return this.watch(({ draft }) => write(describeEventLine(draft)));
  }

  run(signal: AbortSignal): Promise<void> {
    return this.#writer.run(signal);
  }

  flush(timeoutMs: number): Promise<number> {
    return this.#writer.flush(timeoutMs);
  }

  #source(): WriteSource<CorrelatedEvent> {
    const queue = this.#queue;
    return {
      get pending() {
        return queue.length;
      },
      next: () => this.#next(),
      done: (write, delivery) => this.#done(write, delivery),
      close: () => queue.close(),
    };
  }

  /** Correlated only when its turn comes, so that counts go up in the order in which they are written. */
  #next(): CorrelatedEvent | undefined {
    for (let item = this.#queue.take(); item !== undefined; item = this.#queue.take()) {
      const { event, source } = item;
      const correlated = this.#correlatorOf(source).correlate(event, this.#options.clock.monotonicMs());
      if (correlated !== 'spam') return correlated;
      this.#queue.done();
      this.#queue.drop('spam', { event: event.metadata.name }, 'too many events about one object');
    }
    return undefined;
  }

  #done({ event }: CorrelatedEvent, delivery: Settled): void {
    this.#queue.done();
    if (delivery !== 'written') this.#queue.drop(delivery, { event: event.metadata.name }, 'an event was not written');
  }

  #correlatorOf({ component, host }: EventSource): EventCorrelator {
    const key = JSON.stringify([component, host]);
    const known = this.#correlators.get(key);
    if (known !== undefined) return known;
    const correlator = new EventCorrelator((objectName) => this.#names.next(objectName), this.#options.correlator);
    this.#correlators.set(key, correlator);
    return correlator;
  }
}
