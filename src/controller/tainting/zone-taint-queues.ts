import type { Meter } from '../../ports/meter.ts';
import { RateLimitedLines } from '../../queueing/rate-limited-lines.ts';
import { evictionsTotal, taintQueueDepth } from './metrics.ts';

/** One taint at a time: a rate is a promise about every window, however short. */
const burst = 1;

/** The lines in which nodes wait for their NoExecute taint. */
export class ZoneTaintQueues extends RateLimitedLines {
  constructor(ratePerSecond: number, meter: Meter) {
    super({
      ratePerSecond,
      burst,
      onLength: (zone, length) => {
        meter.add(evictionsTotal, 0, { zone });
        if (length === undefined) meter.forget(taintQueueDepth, { zone });
        else meter.set(taintQueueDepth, length, { zone });
      },
    });
  }
}
