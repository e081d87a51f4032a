import type { EventDraft } from '../api/event.ts';
import type { Clock } from '../ports/clock.ts';
import type { EventRecorder } from '../ports/event-recorder.ts';
import type { Logger } from '../ports/logger.ts';
import type { Meter } from '../ports/meter.ts';
import type { EventSource } from './derive-event.ts';
import type { EventNames } from './event-name.ts';
import { EventWatchers } from './event-watchers.ts';
import { type DropReason, eventsDroppedTotal } from './metrics.ts';

/** Events that wait to be written (client-go `maxQueuedEvents`); one that comes when the queue is full is dropped. */
export const eventQueueMax = 1_000;
/** These come in floods, or were told of already: the metric has to do. */
const quietDrops: ReadonlySet<DropReason> = new Set(['spam', 'queue-full', 'rejected']);

/** An event of one API or the other, as it was recorded. */
export interface Recorded<E> {
  readonly event: E;
  readonly source: EventSource;
  /** Monotonic. */
  readonly atMs: number;
}

export interface EventQueueOptions<E> {
  readonly clock: Clock;
  readonly logger: Logger;
  readonly meter: Meter;
  readonly names: EventNames;
  readonly queueMax: number;
  readonly watchers?: EventWatchers | undefined;
  /** The event of the API that is told in, at `nowMs` of wall time. */
  readonly derive: (draft: EventDraft, source: EventSource, name: string, nowMs: number) => E;
  readonly describeFlaw: (draft: EventDraft) => string | undefined;
  /** Called when an event has come in. */
  readonly onAdded: () => void;
}

/**
 * What was recorded and is not yet told: first in, first out, bounded. Recording never throws and never waits; what cannot
 * be told is counted and forgotten.
 */
export class EventQueue<E> {
  readonly watchers: EventWatchers;
  readonly #options: EventQueueOptions<E>;
  readonly #items: Recorded<E>[] = [];
  #inHand = false;
  #open = true;

  constructor(options: EventQueueOptions<E>) {
    this.#options = options;
    this.watchers = options.watchers ?? new EventWatchers(options.logger);
  }

  /** Events that wait, and the one that was taken and is not done. */
  get length(): number {
    return this.#items.length + (this.#inHand ? 1 : 0);
  }

  recorder(source: EventSource): EventRecorder {
    return { record: (draft) => this.#record(draft, source) };
  }

  /** The oldest. It counts as waiting until {@link done}. */
  take(): Recorded<E> | undefined {
    const item = this.#items.shift();
    this.#inHand = item !== undefined;
    return item;
  }

  /** What was taken last is written, or never will be. */
  done(): void {
    this.#inHand = false;
  }

  /** Says of an event that it will not be told, and why. */
  drop(reason: DropReason, fields: Readonly<Record<string, unknown>>, message: string): void {
    this.#options.meter.add(eventsDroppedTotal, 1, { reason });
    this.#options.logger[quietDrops.has(reason) ? 'debug' : 'warn']({ ...fields, dropped: reason }, message);
  }

  /** The end: what waits is dropped, and so is what is recorded later. */
  close(): void {
    const left = this.#open ? this.length : 0;
    this.#open = false;
    if (left === 0) return;
    this.#options.meter.add(eventsDroppedTotal, left, { reason: 'stopped' });
    this.#options.logger.warn({ left }, 'some events were not written');
  }

  #record(draft: EventDraft, source: EventSource): void {
    try {
      this.#add(draft, source);
    } catch (error) {
      this.drop('invalid', { error: String(error) }, 'could not make an event');
    }
  }

  #add(draft: EventDraft, source: EventSource): void {
    const { about, type, reason, message } = draft;
    const { clock, logger, names, queueMax, derive, describeFlaw, onAdded } = this.#options;
    const fields = { kind: about.kind, namespace: about.namespace, name: about.name, type, reason };
    const flaw = describeFlaw(draft);
    if (flaw !== undefined) return this.drop('invalid', { ...fields, flaw }, 'not an event');
    if (!this.#open) return this.drop('stopped', fields, 'an event came after the end');
    const event = derive(draft, source, names.next(about.name), draft.toldAtMs ?? clock.nowMs());
    this.watchers.tell({ draft, source });
    if (this.length >= queueMax) return this.drop('queue-full', fields, 'too many events wait');
    logger.debug({ ...fields, event: message }, 'event recorded');
    this.#items.push({ event, source, atMs: clock.monotonicMs() });
    onAdded();
  }
}
