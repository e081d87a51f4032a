import { counter, gauge } from '../../ports/meter.ts';

export const policyNodes = gauge(
  'node_lifecycle_policy_nodes',
  'Number of nodes to which the policy applies, by policy and mode. Only with policies.',
  ['policy', 'mode'],
);

export const policyConflictNodes = gauge(
  'node_lifecycle_policy_conflict_nodes',
  'Number of nodes that the policy and another one claim equally, so that neither applies to them. Only with policies.',
  ['policy'],
);

export const withheldActs = counter(
  'node_lifecycle_withheld_acts_total',
  'Number of acts that a policy in mode Observe withheld, by policy and kind of act: each kind once for each node until the node recovers or its policy changes.',
  ['policy', 'act'],
);
