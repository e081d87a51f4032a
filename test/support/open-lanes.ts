import type { WriteLane, WriteLanes } from '../../src/ports/write-lanes.ts';

/** Lets every write through at once. */
export class OpenLanes implements WriteLanes {
  pending = 0;

  async run<T>(_lane: WriteLane, write: () => Promise<T>): Promise<T> {
    this.pending += 1;
    try {
      return await write();
    } finally {
      this.pending -= 1;
    }
  }

  drained(): Promise<void> {
    return Promise.resolve();
  }
}
