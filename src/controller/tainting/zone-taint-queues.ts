import { isOuterZone, outerZoneOf } from '../../machinery/api/zone.ts';
import type { Clock } from '../../machinery/ports/clock.ts';
import type { Meter } from '../../machinery/ports/meter.ts';
import { RateLimitedQueues } from '../../machinery/queueing/rate-limited-queues.ts';
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
        meter.add(evictionsTotal, 0, { zone });
        if (length === undefined) forgetZone(meter, zone);
        else meter.set(taintQueueDepth, length, { zone });
      },
    });
    meter.onRead(() => this.#show(meter, clock.monotonicMs()));
  }

  #show(meter: Meter, nowMs: number): void {
    for (const zone of this.zones()) {
      const sinceMs = this.#waitingFor(zone).flatMap((each) => this.get(each)?.oldestSinceMs() ?? []);
      meter.set(zoneEvictionTokens, this.get(zone)?.tokens(nowMs) ?? 0, { zone });
      meter.set(taintQueueOldest, (nowMs - Math.min(nowMs, ...sinceMs)) / 1_000, { zone });
      if (isOuterZone(zone)) this.#showOuterDepth(meter, zone);
    }
  }

  #showOuterDepth(meter: Meter, zone: string): void {
    const depth = this.#waitingFor(zone).reduce((sum, each) => sum + (this.get(each)?.size ?? 0), 0);
    meter.set(taintQueueDepth, depth, { zone });
  }

  /** The zones whose nodes wait for tokens of this one: itself, or the zones of an outer zone. */
  #waitingFor(zone: string): readonly string[] {
    return isOuterZone(zone) ? this.zones().filter((inner) => outerZoneOf(inner) === zone) : [zone];
  }
}

function forgetZone(meter: Meter, zone: string): void {
  for (const metric of [taintQueueDepth, taintQueueOldest, zoneEvictionTokens]) meter.forget(metric, { zone });
}
