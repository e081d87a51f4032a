import type { LeaseView } from '../../src/machinery/api/lease.ts';
import { ApiError } from '../../src/machinery/api/api-error.ts';
import type { LiveLeases } from '../../src/machinery/ports/leases.ts';

/** Live reads of leases from one function for all of them; the API server responds to probes. */
export function liveLeases(readAll: () => Promise<ReadonlyMap<string, LeaseView>>): LiveLeases {
  return {
    readAll: async () => new Map([...(await readAll())].map(([node, lease]) => [node, { kind: 'found', lease }])),
    readOne: async (node) => {
      try {
        const lease = (await readAll()).get(node);
        return lease === undefined ? { kind: 'missing' } : { kind: 'found', lease };
      } catch (error) {
        if (error instanceof ApiError) return { kind: 'unreadable', error };
        throw error;
      }
    },
    probe: () => Promise.resolve(''),
  };
}
