import { PQueueLanes } from '../../src/machinery/adapters/p-queue-lanes.ts';
import type { WriteLane } from '../../src/machinery/ports/write-lanes.ts';
import { OpenLanes } from './open-lanes.ts';

/** Lanes with as many slots as the program has with `--concurrent-writes`. */
export class NarrowLanes extends OpenLanes {
  override readonly concurrencyMax: number;
  readonly #lanes: PQueueLanes;

  constructor(concurrencyMax: number) {
    super();
    this.concurrencyMax = concurrencyMax;
    this.#lanes = new PQueueLanes({ concurrencyMax });
  }

  override run<T>(lane: WriteLane, write: () => Promise<T>, precedence?: number): Promise<T> {
    return this.#lanes.run(lane, () => super.run(lane, write), precedence);
  }
}
