import { isOuterZone, outerZoneOf } from '../../api/zone.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Meter } from '../../ports/meter.ts';
import { RateLimitedQueues } from '../../queueing/rate-limited-queues.ts';
import type { ControllerOptions } from '../model/options.ts';
import { evictionsTotal, taintQueueDepth, taintQueueOldest, zoneEvictionTokens } from './metrics.ts';

/** One taint at a time: the rate applies to every time window, however short. */
const burst = 1;

/** The queues in which nodes wait for their NoExecute taint. */
export class ZoneTaintQueues extends RateLimitedQueues {
  /** The rate is read when a queue is created; the evaluation of zones changes it later. */
  constructor(
    optionsOf: (zone: string) => Pick<ControllerOptions, 'nodeEvictionRate'>,
    meter: Meter,
    clock: Pick<Clock, 'monotonicMs'>,
  ) {
    super({
      limit: (zone) => ({ ratePerSecond: optionsOf(zone).nodeEvictionRate, burst }),
      outerOf: outerZoneOf,
      onLength: (zone, length) => {
        if (isOuterZone(zone)) return length === undefined ? forgetZone(meter, zone) : undefined;
        meter.add(evictionsTotal, 0, { zone });
        if (length === undefined) forgetZone(meter, zone);
        else meter.set(taintQueueDepth, length, { zone });
      },
    });
    meter.onRead(() => this.#show(meter, clock.monotonicMs()));
  }

  #show(meter: Meter, nowMs: number): void {
    for (const zone of this.zones()) {
      const queue = this.get(zone);
      meter.set(zoneEvictionTokens, queue?.tokens(nowMs) ?? 0, { zone });
      // No node waits in it: it only grants tokens to its zones.
      if (isOuterZone(zone)) continue;
      meter.set(taintQueueOldest, (nowMs - (queue?.oldestSinceMs() ?? nowMs)) / 1_000, { zone });
    }
  }
}

function forgetZone(meter: Meter, zone: string): void {
  for (const metric of [taintQueueDepth, taintQueueOldest, zoneEvictionTokens]) meter.forget(metric, { zone });
}
