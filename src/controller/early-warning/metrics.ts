import { counter, gauge } from '../../machinery/ports/meter.ts';

export const overdueNodes = gauge(
  'node_lifecycle_overdue_nodes',
  'Number of nodes of the policy without a heartbeat for longer than earlyWarning.after that are not Unknown yet. Only for policies with earlyWarning, and by the leader.',
  ['policy'],
);

export const overdueEnds = counter(
  'node_lifecycle_overdue_total',
  'Number of early warnings that ended, by policy and end: unknown, the node became Unknown, as announced; heartbeat, it sent one, so the warning was wrong; maintenance, gone or policy, neither.',
  ['policy', 'end'],
);
