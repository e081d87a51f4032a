import { PQueueLanes } from '../../adapters/p-queue-lanes.ts';
import type { Surroundings } from '../../simulator/world.ts';

const concurrentWrites = 10;

/** What a simulation needs of Node.js: a turn of the event loop settles all promises, and write lanes as in production. */
export const surroundings: Surroundings = {
  settle: () =>
    new Promise((resolve) => {
      setImmediate(resolve);
    }),
  makeLanes: () => new PQueueLanes({ concurrencyMax: concurrentWrites }),
};
