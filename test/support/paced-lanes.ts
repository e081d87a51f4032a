import { RequestRateLimit } from '../../src/machinery/supervision/request-rate-limit.ts';
import type { Clock } from '../../src/machinery/ports/clock.ts';
import type { WriteLane } from '../../src/machinery/ports/write-lanes.ts';
import { OpenLanes } from './open-lanes.ts';

/** Writes at the rate of the client-side rate limit. */
export class PacedLanes extends OpenLanes {
  readonly #limit: RequestRateLimit;
  readonly #signal = new AbortController().signal;

  constructor(clock: Clock, qps: number, burst: number) {
    super();
    this.#limit = new RequestRateLimit({ qps, burst, clock });
  }

  override run<T>(lane: WriteLane, write: () => Promise<T>): Promise<T> {
    return super.run(lane, async () => {
      await this.#limit.pass(this.#signal, lane);
      return write();
    });
  }

  /** Rejects waiting writes, as at the end of a process. */
  override drained(): Promise<void> {
    this.#limit.close();
    return super.drained();
  }
}
