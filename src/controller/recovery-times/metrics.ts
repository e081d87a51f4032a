import { histogram } from '../../machinery/ports/meter.ts';

export type FaultStage = 'unknown' | 'first_eviction' | 'last_eviction' | 'replacement' | 'recovery';

export const faultDuration = histogram(
  'node_lifecycle_fault_seconds',
  'Time in seconds from the last heartbeat of a node, or its report NotReady, to a stage of the fault: unknown, first_eviction, last_eviction, replacement (a new Ready pod like an evicted one) or recovery. cause: outage class, or NotReady.',
  [5, 10, 20, 30, 40, 50, 60, 90, 120, 180, 240, 300, 360, 420, 600, 900, 1_800, 3_600, 7_200],
  ['stage', 'cause', 'policy'],
);
