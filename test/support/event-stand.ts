import type { EventDraft } from '../../src/api/event.ts';
import type { Broadcaster, BroadcasterOptions } from '../../src/events/broadcaster.ts';
import { EventServer } from './event-server.ts';
import { ManualClock } from './manual-clock.ts';
import { KeepingLogger, KeepingMeter } from './quiet.ts';

export function aDraft(over: Partial<EventDraft> = {}): EventDraft {
  const about = { apiVersion: 'v1', kind: 'Node', name: 'n1', uid: 'u1' };
  return { about, type: 'Normal', reason: 'NodeNotReady', message: 'm', ...over };
}

export function aboutNode(name: string): EventDraft {
  return aDraft({ about: { apiVersion: 'v1', kind: 'Node', name } });
}

/** A broadcaster with a server, a clock that stands still, and chance that is always one half. */
export class EventStand<B extends Broadcaster> {
  readonly clock = new ManualClock();
  readonly server = new EventServer();
  readonly meter = new KeepingMeter();
  readonly logger = new KeepingLogger();
  readonly broadcaster: B;
  readonly #stop = new AbortController();
  #ended: Promise<void> = Promise.resolve();

  constructor(make: (options: BroadcasterOptions) => B) {
    const { clock, meter, logger } = this;
    this.broadcaster = make({ api: this.server, clock, random: { next: () => 0.5 }, logger, meter });
  }

  start(): this {
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

  dropped(reason: string): number {
    return this.meter.series.get(`node_lifecycle_events_dropped_total{reason="${reason}"}`) ?? 0;
  }

  get verbs(): string {
    return this.server.requests.map(({ verb }) => verb).join(' ');
  }
}
