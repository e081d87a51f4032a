import { PQueueLanes } from '../../machinery/adapters/p-queue-lanes.ts';
import type { SimulationRuntime } from '../../simulator/world.ts';

const concurrentWritesDefault = 10;
/** Callbacks that one turn of the event loop has at most: a turn costs more than most occurrences. */
const callbacksPerTurn = 256;

const waiting: (() => void)[] = [];
/** Immediates that have not run yet. */
let immediates = 0;

/**
 * Calls back when every promise has settled that waits for nothing else. Between two immediates of one turn Node.js runs all
 * promises and ticks, and ends the process for an unhandled rejection, as at the end of a turn.
 */
function settle(then: () => void): void {
  waiting.push(then);
  if (waiting.length <= immediates) return;
  for (let each = 0; each < callbacksPerTurn; each += 1) setImmediate(callBack);
  immediates += callbacksPerTurn;
}

function callBack(): void {
  immediates -= 1;
  waiting.shift()?.();
}

/** Parts of Node.js that a simulation uses: a wait for all promises, and write lanes as in production. */
export const simulationRuntime: SimulationRuntime = {
  settle,
  makeLanes: (concurrencyMax = concurrentWritesDefault) => new PQueueLanes({ concurrencyMax }),
};
