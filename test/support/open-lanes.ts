import type { WriteLane, WriteLanes } from '../../src/machinery/ports/write-lanes.ts';

/** Runs every write at once, unless its lane has a gate. */
export class OpenLanes implements WriteLanes {
  readonly concurrencyMax: number = Infinity;
  pending = 0;
  /** What the writes of a lane wait for, as for a free slot. */
  readonly gates: Partial<Record<WriteLane, Promise<unknown>>> = {};

  async run<T>(lane: WriteLane, write: () => Promise<T>): Promise<T> {
    this.pending += 1;
    try {
      if (this.gates[lane] !== undefined) await this.gates[lane];
      return await write();
    } finally {
      this.pending -= 1;
    }
  }

  drained(): Promise<void> {
    return Promise.resolve();
  }
}
