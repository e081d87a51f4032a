import { counter, gauge } from '../../machinery/ports/meter.ts';

export const overdueNodes = gauge(
  'node_lifecycle_overdue_nodes',
  'Number of nodes of the policy without a heartbeat for longer than earlyWarning.after whose grace period is not over. Only for policies with earlyWarning; 0 on standbys.',
  ['policy'],
);

export const overdueEnds = counter(
  'node_lifecycle_overdue_total',
  'Number of early warnings that ended, by policy and end: silent, the grace period was over, as announced; heartbeat, the node sent one, so the warning was wrong; withdrawn or gone, neither.',
  ['policy', 'end'],
);
