import type { Clock } from '../ports/clock.ts';
import { forget, WorkQueue } from '../queueing/work-queue.ts';
import { WorkLoop } from './work-loop.ts';

/** One call processes all pods of a node. */
const nodesInARow = 32;

interface BatchedResyncOptions {
  readonly clock: Clock;
  /** Processes the pods of one node. An error is reported to `onFault`, and the node is retried later. */
  readonly resync: (node: string) => void;
  readonly onFault: (node: string, error: unknown) => void;
}

/** Processes nodes one at a time, a few in a row, so that other work on the event loop is not delayed by all of them. */
export function batchedResync({ clock, resync, onFault }: BatchedResyncOptions): WorkLoop {
  return new WorkLoop({
    queue: new WorkQueue(),
    clock,
    workersMax: 1,
    keysInARow: nodesInARow,
    handle: (node) => {
      resync(node);
      return Promise.resolve(forget);
    },
    onFault,
  });
}
