import type { Clock } from '../../ports/clock.ts';
import type { Meter } from '../../ports/meter.ts';
import { RateLimitedLines } from '../../queueing/rate-limited-lines.ts';
import type { ControllerOptions } from '../options.ts';
import { evictionsTotal, taintQueueDepth, taintQueueOldest, zoneEvictionTokens } from './metrics.ts';

/** One taint at a time: a rate is a promise about every window, however short. */
const burst = 1;

/** The lines in which nodes wait for their NoExecute taint. */
export class ZoneTaintQueues extends RateLimitedLines {
  /** The rate is read when a line begins; whoever judges the zones swaps it later. */
  constructor(options: Pick<ControllerOptions, 'nodeEvictionRate'>, meter: Meter, clock: Pick<Clock, 'monotonicMs'>) {
    super({
      get ratePerSecond() {
        return options.nodeEvictionRate;
      },
      burst,
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
      const line = this.get(zone);
      meter.set(zoneEvictionTokens, line?.tokens(nowMs) ?? 0, { zone });
      meter.set(taintQueueOldest, (nowMs - (line?.oldestSinceMs() ?? nowMs)) / 1_000, { zone });
    }
  }
}

function forgetZone(meter: Meter, zone: string): void {
  for (const metric of [taintQueueDepth, taintQueueOldest, zoneEvictionTokens]) meter.forget(metric, { zone });
}
