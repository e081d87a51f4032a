import { counter, gauge } from '../../machinery/ports/meter.ts';

export const flappingNodes = gauge(
  'node_lifecycle_flapping_nodes',
  'Number of nodes of the policy that have the taint nodelifecycle/flapping. Only for policies with flapping.',
  ['policy'],
);

export const flappingRecoveries = counter(
  'node_lifecycle_flapping_recoveries_total',
  'Number of recoveries of nodes that flap, by policy and result: kept, the node got the taint nodelifecycle/flapping or keeps it for longer; over_budget, it did not, because the budget of the policy is used up.',
  ['policy', 'result'],
);
