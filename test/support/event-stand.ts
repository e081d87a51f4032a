import { after } from 'node:test';
import type { Event, EventDraft } from '../../src/machinery/api/event.ts';
import type { Broadcaster, BroadcasterOptions } from '../../src/machinery/events/broadcaster.ts';
import { EventServer } from './event-server.ts';
import { ManualClock, settled } from './manual-clock.ts';
import { RecordingLogger, RecordingMeter } from './fakes.ts';

export function aDraft(over: Partial<EventDraft> = {}): EventDraft {
  const about = { apiVersion: 'v1', kind: 'Node', name: 'n1', uid: 'u1' };
  return { about, type: 'Normal', reason: 'NodeNotReady', message: 'm', ...over };
}

export function aboutNode(name: string): EventDraft {
  return aDraft({ about: { apiVersion: 'v1', kind: 'Node', name } });
}

/** A broadcaster with a server, a stopped clock, and a random source that always returns one half. */
export class EventStand<B extends Broadcaster> {
  readonly clock = new ManualClock();
  readonly server = new EventServer();
  readonly meter = new RecordingMeter();
  readonly logger = new RecordingLogger();
  readonly broadcaster: B;
  readonly #stop = new AbortController();
  #ended: Promise<void> = Promise.resolve();

  constructor(make: (options: BroadcasterOptions) => B) {
    const { clock, meter, logger } = this;
    this.broadcaster = make({ api: this.server, clock, random: { next: () => 0.5 }, logger, meter });
  }

  /** Runs it until {@link stop}, at the latest until the end of the test. */
  start(): this {
    after(() => this.stop());
    this.#ended = this.broadcaster.run(this.#stop.signal);
    return this;
  }

  async stop(): Promise<void> {
    this.#stop.abort();
    await this.#ended;
  }

  record(draft: EventDraft = aDraft()): void {
    this.broadcaster.recorder('node-controller').record(draft);
  }

  /** Records one event after the other, and waits until they were processed as far as the server allows. */
  async recorded(...drafts: readonly EventDraft[]): Promise<void> {
    for (const draft of drafts) this.record(draft);
    await settled();
  }

  /** What the server has stored, in order. */
  get events(): readonly Event[] {
    return [...this.server.events.values()];
  }

  /** Names of the objects of the stored events, in order. */
  get names(): readonly string[] {
    return this.events.map(({ involvedObject }) => involvedObject.name);
  }

  dropped(reason: string): number {
    return this.meter.series.get(`node_lifecycle_events_dropped_total{reason="${reason}"}`) ?? 0;
  }

  get verbs(): string {
    return this.server.requests.map(({ verb }) => verb).join(' ');
  }
}
