import type { EventDraft } from '../api/event.ts';
import type { Ambient } from '../ports/ambient.ts';
import type { EventRecorder } from '../ports/event-recorder.ts';
import type { EventSource } from './build-event.ts';
import type { EventNames } from './event-name.ts';
import { type DropReason, eventsDroppedTotal } from './metrics.ts';

/** Maximum number of queued events (client-go `maxQueuedEvents`); events recorded while the queue is full are dropped. */
export const eventQueueMax = 1_000;
/** Drops logged at debug level: they come in bulk or are logged elsewhere; the metric counts them. */
const debugDrops: ReadonlySet<DropReason> = new Set(['spam', 'queue-full', 'rejected']);

/** A recorded event, of either API. */
export interface Recorded<E> {
  readonly event: E;
  readonly source: EventSource;
  /** Monotonic milliseconds. */
  readonly atMs: number;
}

export interface EventQueueOptions<E> extends Ambient {
  readonly names: EventNames;
  readonly queueMax: number;
  /** Builds the event of the broadcaster's API, at `nowMs` of wall time. */
  readonly build: (draft: EventDraft, source: EventSource, name: string, nowMs: number) => E;
  readonly describeProblem: (draft: EventDraft) => string | undefined;
  /** Called after each event that is queued. */
  readonly onAdded: () => void;
}

/**
 * Bounded FIFO of events that are recorded and not yet written. Recording never throws and never blocks; an event that
 * cannot be delivered is counted and dropped.
 */
export class EventQueue<E> {
  readonly #options: EventQueueOptions<E>;
  readonly #items: Recorded<E>[] = [];
  #taken = false;
  #open = true;

  constructor(options: EventQueueOptions<E>) {
    this.#options = options;
  }

  /** Queued events, including the one that was taken and is not done. */
  get length(): number {
    return this.#items.length + (this.#taken ? 1 : 0);
  }

  recorder(source: EventSource): EventRecorder {
    return { record: (draft) => this.#record(draft, source) };
  }

  /** Takes the oldest event. It counts as pending until {@link done}. */
  take(): Recorded<E> | undefined {
    const item = this.#items.shift();
    this.#taken = item !== undefined;
    return item;
  }

  /** The event taken last is written or dropped. */
  done(): void {
    this.#taken = false;
  }

  /** Counts and logs an event that will not be delivered, with the reason. */
  drop(reason: DropReason, fields: Readonly<Record<string, unknown>>, message: string): void {
    this.#options.meter.add(eventsDroppedTotal, 1, { reason });
    this.#options.logger[debugDrops.has(reason) ? 'debug' : 'warn']({ ...fields, dropped: reason }, message);
  }

  /** Closes the queue: pending events are dropped, and so are events recorded later. */
  close(): void {
    const left = this.#open ? this.length : 0;
    this.#open = false;
    if (left === 0) return;
    this.#options.meter.add(eventsDroppedTotal, left, { reason: 'stopped' });
    this.#options.logger.warn({ left }, 'events dropped at shutdown');
  }

  #record(draft: EventDraft, source: EventSource): void {
    try {
      this.#add(draft, source);
    } catch (error) {
      this.drop('invalid', { error: String(error) }, 'building an event failed');
    }
  }

  #add(draft: EventDraft, source: EventSource): void {
    const { about, type, reason, message } = draft;
    const { clock, logger, names, queueMax, build, describeProblem, onAdded } = this.#options;
    const fields = { kind: about.kind, namespace: about.namespace, name: about.name, type, reason };
    const problem = describeProblem(draft);
    if (problem !== undefined) return this.drop('invalid', { ...fields, problem }, 'invalid event dropped');
    if (!this.#open) return this.drop('stopped', fields, 'event dropped: recorded after shutdown');
    const event = build(draft, source, names.next(about.name), draft.reportedAtMs ?? clock.nowMs());
    if (this.length >= queueMax) return this.drop('queue-full', fields, 'event dropped: queue full');
    logger.debug({ ...fields, event: message }, 'event recorded');
    this.#items.push({ event, source, atMs: clock.monotonicMs() });
    onAdded();
  }
}
