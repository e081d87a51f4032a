import type { NewerEvent } from '../api/event.ts';
import type { EventRecorder } from '../ports/event-recorder.ts';
import type { Broadcaster, BroadcasterOptions } from './broadcaster.ts';
import { seriesFinishMs, seriesRefreshMs } from './correlate-series.ts';
import { deriveNewerEvent, describeNewerFlaw } from './derive-newer-event.ts';
import { describeEventLine } from './describe-event-line.ts';
import { EventNames } from './event-name.ts';
import { EventQueue, eventQueueMax } from './event-queue.ts';
import { EventSink, newerManner, type Settled } from './event-sink.ts';
import type { EventHandler } from './event-watchers.ts';
import { EventWriter, type WriteSource } from './event-writer.ts';
import { seriesMaxDefault, SeriesTable, type SeriesWrite } from './series-table.ts';

export interface SeriesBroadcasterOptions extends BroadcasterOptions {
  /** Kinds of events remembered, of all sources together; absent or 0: `seriesMaxDefault`. */
  readonly seriesMax?: number;
}

/**
 * Tells in events.k8s.io/v1: one bounded queue, one writer, in order; what happens again becomes a series (client-go
 * `tools/events` `eventBroadcasterImpl`). At the end every count is told that the API server has not heard yet.
 */
export class SeriesBroadcaster implements Broadcaster {
  readonly #options: SeriesBroadcasterOptions;
  readonly #queue: EventQueue<NewerEvent>;
  readonly #table: SeriesTable;
  readonly #writer: EventWriter<SeriesWrite>;
  /** Events and due counts take turns: neither waits for more than one of the other. */
  #turn: 'event' | 'due' = 'event';
  #rest: 'kept' | 'planned' = 'kept';

  constructor(options: SeriesBroadcasterOptions) {
    const { clock, random, queueMax, seriesMax } = options;
    this.#options = options;
    this.#table = new SeriesTable(seriesMax || seriesMaxDefault);
    this.#queue = new EventQueue({
      ...options,
      names: options.names ?? new EventNames(clock, random),
      queueMax: queueMax || eventQueueMax,
      derive: deriveNewerEvent,
      describeFlaw: describeNewerFlaw,
      onAdded: () => this.#writer.wake(),
    });
    this.#writer = new EventWriter(this.#source(), new EventSink(options, newerManner), clock);
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

  async run(signal: AbortSignal): Promise<void> {
    if (this.#writer.running) return this.#writer.run(signal);
    await Promise.all([this.#writer.run(signal), this.#lookNowAndThen(signal)]);
  }

  flush(timeoutMs: number): Promise<number> {
    return this.#writer.flush(timeoutMs);
  }

  async #lookNowAndThen(signal: AbortSignal): Promise<void> {
    const { clock } = this.#options;
    let refreshedAtMs = clock.monotonicMs();
    for (;;) {
      await clock.sleep(seriesFinishMs, signal);
      if (signal.aborted) return;
      const nowMs = clock.monotonicMs();
      const refresh = nowMs - refreshedAtMs >= seriesRefreshMs;
      if (this.#table.look(nowMs, refresh) && refresh) refreshedAtMs = nowMs;
      this.#writer.wake();
    }
  }

  #source(): WriteSource<SeriesWrite> {
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

  #next(): SeriesWrite | undefined {
    const nowMs = this.#options.clock.monotonicMs();
    const eventFirst = this.#turn === 'event';
    this.#turn = eventFirst ? 'due' : 'event';
    const write = eventFirst
      ? (this.#nextEvent() ?? this.#table.nextDue(nowMs))
      : (this.#table.nextDue(nowMs) ?? this.#nextEvent());
    if (write !== undefined || this.#writer.running || this.#rest === 'planned') return write;
    this.#rest = 'planned';
    this.#table.planRest();
    return this.#table.nextDue(nowMs);
  }

  #nextEvent(): SeriesWrite | undefined {
    for (let item = this.#queue.take(); item !== undefined; item = this.#queue.take()) {
      const write = this.#table.observe(item);
      if (write !== undefined) return write;
      this.#queue.done();
    }
    return undefined;
  }

  #done(write: SeriesWrite, delivery: Settled): void {
    if (write.why === 'recorded') this.#queue.done();
    if (delivery === 'unreachable' && this.#comesAgain(write)) return;
    if (delivery !== 'unreachable') this.#table.settle(write);
    if (delivery !== 'written')
      this.#queue.drop(delivery, { event: write.event.metadata.name }, 'an event was not written');
  }

  /** The next look finds it due once more, unless there is none. */
  #comesAgain({ why }: SeriesWrite): boolean {
    return (why === 'refresh' || why === 'finish') && this.#rest === 'kept';
  }
}
