import type { Fault } from '../../hollow-cluster/kubelet/faults/fault.ts';

/** Faults without heartbeats. A fault that only delays or changes what a node reports leaves it reachable. */
export const endsHeartbeats: ReadonlySet<string> = new Set<Fault['kind']>([
  'silence',
  'partition',
  'flap',
  'errors',
  'crash',
  'shutdown',
  'delete-node',
]);
