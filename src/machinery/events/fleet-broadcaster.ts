import type { EventRecorder } from '../ports/event-recorder.ts';
import type { Broadcaster, BroadcasterOptions } from './broadcaster.ts';
import { EventBroadcaster } from './event-broadcaster.ts';
import { EventNames } from './event-name.ts';

/** Number of events written concurrently (the worker count of newer client-go `tools/events`). */
export const fleetWritersDefault = 8;
/** Maximum number of queued events of all machines together. */
const fleetQueueMax = 50_000;

export interface FleetBroadcasterOptions extends Omit<BroadcasterOptions, 'host' | 'names'> {
  readonly writers?: number;
}

/**
 * Broadcaster for thousands of machines in one process, in core/v1 as kubelets: a few writers instead of a broadcaster
 * for each machine. Every machine is assigned to one writer, so its events keep their order. Correlation state (repeats,
 * similar events, rate limits) is kept per source, as if each had a broadcaster of its own. When a queue is full, events of
 * all machines of its writer are dropped.
 *
 *     const events = new FleetBroadcaster({ api, clock, random, logger, meter });
 *     const running = events.run(signal);
 *     const recorder = events.recorder('kubelet', nodeName);
 *     recorder.record({ about: buildNodeReference(nodeName), type: 'Normal', reason: 'Starting', message: '...' });
 *
 * At shutdown: abort the signal, await `running`, then `flush` with a time limit, for all machines at once.
 */
export class FleetBroadcaster implements Broadcaster {
  readonly #broadcasters: readonly Broadcaster[];

  constructor(options: FleetBroadcasterOptions) {
    const { clock, random, queueMax, writers } = options;
    const count = writers || fleetWritersDefault;
    const broadcasterOptions = {
      ...options,
      names: new EventNames(clock, random),
      queueMax: Math.max(1, Math.floor((queueMax || fleetQueueMax) / count)),
    };
    this.#broadcasters = Array.from({ length: count }, () => new EventBroadcaster(broadcasterOptions));
  }

  get pending(): number {
    return this.#broadcasters.reduce((sum, broadcaster) => sum + broadcaster.pending, 0);
  }

  recorder(component: string, host?: string): EventRecorder {
    return this.#broadcasterOf(host ?? component).recorder(component, host);
  }

  async run(signal: AbortSignal): Promise<void> {
    await Promise.all(this.#broadcasters.map((broadcaster) => broadcaster.run(signal)));
  }

  async flush(timeoutMs: number): Promise<number> {
    const left = await Promise.all(this.#broadcasters.map((broadcaster) => broadcaster.flush(timeoutMs)));
    return left.reduce((sum, count) => sum + count, 0);
  }

  /** Deterministic: always the same writer for one machine. */
  #broadcasterOf(host: string): Broadcaster {
    let sum = 0;
    for (let at = 0; at < host.length; at += 1) sum = (sum * 31 + host.charCodeAt(at)) % 1_000_003;
    const broadcaster = this.#broadcasters[sum % this.#broadcasters.length];
    if (broadcaster === undefined) throw new Error('writers: must be at least 1');
    return broadcaster;
  }
}
