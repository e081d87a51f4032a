import type { EventV1 } from '../api/event.ts';
import type { BroadcasterOptions } from './broadcaster.ts';
import { seriesFinishMs, seriesRefreshMs } from './correlate-series.ts';
import { toEventsV1, describeEventV1Problem } from './to-events-v1.ts';
import { eventV1Behavior, type Settled } from './event-sink.ts';
import { QueueBroadcaster } from './queue-broadcaster.ts';
import { seriesMaxDefault, SeriesTable, type SeriesWrite } from './series-table.ts';

export interface SeriesBroadcasterOptions extends BroadcasterOptions {
  /** Maximum number of series, of all sources together; absent or 0: `seriesMaxDefault`. */
  readonly seriesMax?: number;
}

/**
 * Broadcaster of events.k8s.io/v1 Events; repeats become a series (client-go `tools/events` `eventBroadcasterImpl`). At
 * shutdown every count that is not written yet is written.
 */
export class SeriesBroadcaster extends QueueBroadcaster<EventV1, SeriesWrite> {
  readonly #table: SeriesTable;
  /** Recorded events and due counts alternate: neither waits for more than one of the other. */
  #nextSource: 'event' | 'due' = 'event';
  #finalCounts: 'pending' | 'scheduled' = 'pending';

  constructor(options: SeriesBroadcasterOptions) {
    super(options, { build: toEventsV1, describeProblem: describeEventV1Problem, behavior: eventV1Behavior });
    this.#table = new SeriesTable(options.seriesMax || seriesMaxDefault);
  }

  override async run(signal: AbortSignal): Promise<void> {
    if (this.running) return super.run(signal);
    await Promise.all([super.run(signal), this.#checkPeriodically(signal)]);
  }

  async #checkPeriodically(signal: AbortSignal): Promise<void> {
    const { clock } = this.options;
    let refreshedAtMs = clock.monotonicMs();
    for (;;) {
      await clock.sleep(seriesFinishMs, signal);
      if (signal.aborted) return;
      const nowMs = clock.monotonicMs();
      const refresh = nowMs - refreshedAtMs >= seriesRefreshMs;
      if (this.#table.check(nowMs, refresh) && refresh) refreshedAtMs = nowMs;
      this.wake();
    }
  }

  protected override nextWrite(): SeriesWrite | undefined {
    const nowMs = this.options.clock.monotonicMs();
    const eventFirst = this.#nextSource === 'event';
    this.#nextSource = eventFirst ? 'due' : 'event';
    const write = eventFirst
      ? (this.#nextEvent() ?? this.#table.nextDue(nowMs))
      : (this.#table.nextDue(nowMs) ?? this.#nextEvent());
    if (write !== undefined || this.running || this.#finalCounts === 'scheduled') return write;
    this.#finalCounts = 'scheduled';
    this.#table.scheduleAll();
    return this.#table.nextDue(nowMs);
  }

  #nextEvent(): SeriesWrite | undefined {
    for (let item = this.queue.take(); item !== undefined; item = this.queue.take()) {
      const write = this.#table.observe(item);
      if (write !== undefined) return write;
      this.queue.done();
    }
    return undefined;
  }

  protected override settle(write: SeriesWrite, delivery: Settled): void {
    if (write.why === 'recorded') this.queue.done();
    if (delivery === 'unreachable' && this.#isRescheduled(write)) return;
    if (delivery !== 'unreachable') this.#table.settle(write);
    if (delivery !== 'written') this.queue.drop(delivery, { event: write.event.metadata.name }, 'event not written');
  }

  /** Whether the next check schedules it once more; false after the final check. */
  #isRescheduled({ why }: SeriesWrite): boolean {
    return (why === 'refresh' || why === 'finish') && this.#finalCounts === 'pending';
  }
}
