import type { Clock } from '../ports/clock.ts';
import type { BackoffLimits } from '../queueing/backoff.ts';
import { forget, WorkQueue } from '../queueing/work-queue.ts';
import { WorkLoop } from './work-loop.ts';

/** A look at a node is one at each of its pods. */
const nodesInARow = 32;

export interface SlowRoundOptions {
  readonly clock: Clock;
  readonly retryLimits: BackoffLimits;
  /** Looks at the pods of one node. What it throws is told, and it is called again later. */
  readonly look: (node: string) => void;
  readonly onFault: (node: string, error: unknown) => void;
}

/** Goes through nodes one after the other, a few in a row, so that nobody else has to wait for all of them. */
export function slowRound({ clock, retryLimits, look, onFault }: SlowRoundOptions): WorkLoop {
  return new WorkLoop({
    queue: new WorkQueue(retryLimits),
    clock,
    workersMax: 1,
    looksInARow: nodesInARow,
    handle: (node) => {
      look(node);
      return Promise.resolve(forget);
    },
    onFault,
  });
}
