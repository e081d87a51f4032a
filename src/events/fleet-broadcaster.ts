import type { EventRecorder } from '../ports/event-recorder.ts';
import type { Broadcaster, BroadcasterOptions } from './broadcaster.ts';
import { describeEventLine } from './describe-event-line.ts';
import { EventBroadcaster } from './event-broadcaster.ts';
import { EventNames } from './event-name.ts';
import { type EventHandler, EventWatchers } from './event-watchers.ts';

/** Events under way at the same time (as many as newer client-go `tools/events` has workers). */
export const fleetWritersDefault = 8;
/** Events of all machines together that may wait. */
export const fleetQueueMax = 50_000;

export interface FleetBroadcasterOptions extends Omit<BroadcasterOptions, 'host' | 'names' | 'watchers'> {
  readonly writers?: number;
}

/**
 * Tells for thousands of machines in one process, in core/v1 as kubelets do: a few writers instead of a broadcaster for
 * each. Every machine has one writer, so its events keep their order; a writer has many machines. What is remembered of a
 * source, repeats, similar events and its allowances, is as separate as if each had a broadcaster of its own. When the
 * queue is full the machines of a writer share the loss.
 *
 *     const events = new FleetBroadcaster({ api, clock, random, logger, meter });
 *     const running = events.run(signal);
 *     const recorder = events.recorder('kubelet', nodeName); // as light as an object
 *     recorder.record({ about: deriveNodeReference({ name: nodeName }), type: 'Normal', reason: 'Starting', message: '...' });
 *
 * At the end, abort the signal, await `running`, and `flush` within a limit: both are for all machines at once.
 */
export class FleetBroadcaster implements Broadcaster {
  readonly #lanes: readonly Broadcaster[];
  readonly #watchers: EventWatchers;

  constructor(options: FleetBroadcasterOptions) {
    const { clock, random, logger, queueMax, writers } = options;
    this.#watchers = new EventWatchers(logger);
    const count = writers || fleetWritersDefault;
    const lane = {
      ...options,
      names: new EventNames(clock, random),
      watchers: this.#watchers,
      queueMax: Math.max(1, Math.floor((queueMax || fleetQueueMax) / count)),
    };
    this.#lanes = Array.from({ length: count }, () => new EventBroadcaster(lane));
  }

  get pending(): number {
    return this.#lanes.reduce((sum, lane) => sum + lane.pending, 0);
  }

  recorder(component: string, host?: string): EventRecorder {
    return this.#laneOf(host ?? component).recorder(component, host);
  }

  watch(handler: EventHandler, queueMax?: number): () => void {
    return this.#watchers.add(handler, queueMax);
  }

  startLogging(write: (line: string) => void): () => void {
    return this.watch(({ draft }) => write(describeEventLine(draft)));
  }

  async run(signal: AbortSignal): Promise<void> {
    await Promise.all(this.#lanes.map((lane) => lane.run(signal)));
  }

  async flush(timeoutMs: number): Promise<number> {
    const left = await Promise.all(this.#lanes.map((lane) => lane.flush(timeoutMs)));
    return left.reduce((sum, count) => sum + count, 0);
  }

  /** Always the same for the same machine. */
  #laneOf(host: string): Broadcaster {
    let sum = 0;
    for (let at = 0; at < host.length; at += 1) sum = (sum * 31 + host.charCodeAt(at)) % 1_000_003;
    const lane = this.#lanes[sum % this.#lanes.length];
    if (lane === undefined) throw new Error('a fleet needs at least one writer');
    return lane;
  }
}
