import type { Event, EventDraft } from '../api/event.ts';
import type { Clock } from '../ports/clock.ts';
import type { EventRecorder } from '../ports/event-recorder.ts';
import type { Logger } from '../ports/logger.ts';
import type { Meter } from '../ports/meter.ts';
import type { Random } from '../ports/random.ts';
import { deriveEvent, describeFlaw, type EventSource } from './derive-event.ts';
import { type CorrelatedEvent, EventCorrelator } from './event-correlator.ts';
import { EventNames } from './event-name.ts';
import { type EventApi, EventSink, triesMax } from './event-sink.ts';
import { type DropReason, eventsDroppedTotal } from './metrics.ts';

/** Events that wait to be written (client-go `maxQueuedEvents`); one that comes when the queue is full is dropped. */
export const eventQueueMax = 1_000;
/** After the end everything waiting gets one chance, not a dozen. */
const flushTriesMax = 1;
/** These come in floods, or were told of already: the metric has to do. */
const quietDrops: ReadonlySet<DropReason> = new Set(['spam', 'queue-full', 'rejected']);

export interface EventBroadcasterOptions {
  /** Its rate is its own business: give events a client with a lane of its own. */
  readonly api: EventApi;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  readonly meter: Meter;
  /** The machine we speak for, where there is one (a kubelet's node). */
  readonly host?: string;
  readonly queueMax?: number;
}

/**
 * Carries events from those who record them to the API server: one bounded queue, one writer, in order. Recording never
 * throws and never waits; what cannot be told is counted and forgotten.
 */
export class EventBroadcaster {
  readonly #options: EventBroadcasterOptions;
  readonly #queueMax: number;
  readonly #names: EventNames;
  readonly #correlator: EventCorrelator;
  readonly #sink: EventSink;
  readonly #queue: Event[] = [];
  /** Taken from the queue and correlated, but not yet written. */
  #inHand: CorrelatedEvent | undefined;
  #state: 'open' | 'closed' = 'open';
  #running = false;
  #wake: () => void = () => {};
  readonly #idleWaiters = new Set<() => void>();

  constructor(options: EventBroadcasterOptions) {
    this.#options = options;
    this.#queueMax = options.queueMax ?? eventQueueMax;
    this.#names = new EventNames(options.clock, options.random);
    this.#correlator = new EventCorrelator((objectName) => this.#names.next(objectName));
    this.#sink = new EventSink(options);
  }

  /** Events that were recorded and are not yet written or dropped. */
  get pending(): number {
    return this.#queue.length + (this.#inHand === undefined ? 0 : 1);
  }

  /** A recorder that speaks in this component's name. */
  recorder(component: string): EventRecorder {
    const source = { component, host: this.#options.host };
    return { record: (draft) => this.#record(draft, source) };
  }

  #record(draft: EventDraft, source: EventSource): void {
    try {
      this.#enqueue(draft, source);
    } catch (error) {
      this.#drop('invalid', { error: String(error) }, 'could not make an event');
    }
  }

  #enqueue(draft: EventDraft, source: EventSource): void {
    const { about, type, reason, message } = draft;
    const fields = { kind: about.kind, namespace: about.namespace, name: about.name, type, reason };
    const flaw = describeFlaw(draft);
    if (flaw !== undefined) return this.#drop('invalid', { ...fields, flaw }, 'not an event');
    if (this.#state === 'closed') return this.#drop('stopped', fields, 'an event came after the end');
    if (this.pending >= this.#queueMax) return this.#drop('queue-full', fields, 'too many events wait');
    this.#options.logger.debug({ ...fields, event: message }, 'event recorded');
    const { clock } = this.#options;
    this.#queue.push(deriveEvent(draft, source, this.#names.next(about.name), clock.nowMs()));
    this.#wake();
  }

  #drop(reason: DropReason, fields: Readonly<Record<string, unknown>>, message: string): void {
    this.#options.meter.add(eventsDroppedTotal, 1, { reason });
    this.#options.logger[quietDrops.has(reason) ? 'debug' : 'warn']({ ...fields, dropped: reason }, message);
  }

  /**
   * Writes what was recorded until the signal aborts, then stops at once, even between two tries. Nothing that happens to
   * an event makes it reject; running it twice at a time does.
   */
  async run(signal: AbortSignal): Promise<void> {
    if (this.#running) throw new Error('this broadcaster is running already');
    this.#running = true;
    while (!signal.aborted) {
      if (this.pending > 0) await this.#writeNext(triesMax, signal);
      else await this.#recorded(signal);
    }
    this.#running = false;
    this.#showIdle();
  }

  /**
   * Waits until everything recorded is written, `timeoutMs` at most, and resolves with the number of events left. While
   * {@link run} runs it merely waits. After that it writes by itself, one try for each, and is the end: what is left then
   * is forgotten, and what is recorded later is dropped.
   */
  async flush(timeoutMs: number): Promise<number> {
    const over = new AbortController();
    const expiry = this.#options.clock.sleep(timeoutMs, over.signal).then(() => over.abort());
    await this.#idle(over.signal);
    if (!this.#running) await this.#writeRest(over.signal);
    over.abort();
    await expiry;
    return this.pending;
  }

  async #writeRest(signal: AbortSignal): Promise<void> {
    while (this.pending > 0 && !signal.aborted) await this.#writeNext(flushTriesMax, signal);
    this.#state = 'closed';
    if (this.pending > 0) this.#options.logger.warn({ left: this.pending }, 'some events were not written');
  }

  async #writeNext(tries: number, signal: AbortSignal): Promise<void> {
    this.#inHand ??= this.#takeNext();
    if (this.#inHand !== undefined) {
      const delivery = await this.#sink.deliver(this.#inHand, tries, signal);
      if (delivery === 'unfinished') return;
      const fields = { event: this.#inHand.event.metadata.name };
      this.#inHand = undefined;
      if (delivery !== 'written') this.#drop(delivery, fields, 'an event was not written');
    }
    if (this.pending === 0) this.#showIdle();
  }

  /** Correlated only when its turn comes, so that counts go up in the order in which they are written. */
  #takeNext(): CorrelatedEvent | undefined {
    const event = this.#queue.shift();
    if (event === undefined) return undefined;
    const correlated = this.#correlator.correlate(event, this.#options.clock.monotonicMs());
    if (correlated !== 'spam') return correlated;
    this.#drop('spam', { event: event.metadata.name }, 'too many events about one object');
    return undefined;
  }

  /** Resolves when something is recorded or the signal aborts. */
  #recorded(signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const wake = (): void => {
        signal.removeEventListener('abort', wake);
        this.#wake = () => {};
        resolve();
      };
      this.#wake = wake;
      signal.addEventListener('abort', wake);
    });
  }

  /** Resolves when the loop has nothing left to write or has ended, or when the signal aborts. */
  #idle(signal: AbortSignal): Promise<void> {
    if (!this.#running || this.pending === 0) return Promise.resolve();
    return new Promise((resolve) => {
      const done = (): void => {
        signal.removeEventListener('abort', done);
        this.#idleWaiters.delete(done);
        resolve();
      };
      this.#idleWaiters.add(done);
      signal.addEventListener('abort', done);
    });
  }

  #showIdle(): void {
    for (const done of this.#idleWaiters) done();
  }
}
