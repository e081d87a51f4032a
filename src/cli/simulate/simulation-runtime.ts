import { PQueueLanes } from '../../machinery/adapters/p-queue-lanes.ts';
import type { SimulationRuntime } from '../../simulator/world.ts';

const concurrentWritesDefault = 10;
/** Every so often the event loop turns, for signals and unhandled rejections. */
const settlesPerTurn = 1_024;

let settles = 0;

/**
 * Calls back when every promise has settled that waits for nothing else. A tick that is queued from a microtask runs when
 * no microtask is left, which costs a fraction of a turn of the event loop.
 */
function settle(then: () => void): void {
  settles += 1;
  if (settles % settlesPerTurn === 0) setImmediate(then);
  else queueMicrotask(() => process.nextTick(then));
}

/** Parts of Node.js that a simulation uses: a wait for all promises, and write lanes as in production. */
export const simulationRuntime: SimulationRuntime = {
  settle,
  makeLanes: (concurrencyMax = concurrentWritesDefault) => new PQueueLanes({ concurrencyMax }),
};
