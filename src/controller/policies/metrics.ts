import { gauge } from '../../machinery/ports/meter.ts';

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

export const policyUnhealthyNodes = gauge(
  'node_lifecycle_policy_unhealthy_nodes',
  'Number of nodes of the policy that are not Ready or silent. Only for policies with limits, and only on the leader.',
  ['policy'],
);

export const policyUnhealthyLimit = gauge(
  'node_lifecycle_policy_unhealthy_nodes_limit',
  'Number of unhealthy nodes of the policy above which its breaker opens. Only for policies with limits, and only on the leader.',
  ['policy'],
);

export const policyBreakerOpen = gauge(
  'node_lifecycle_policy_breaker_open',
  '1 while the breaker of the policy is open, so that its nodes get no NoExecute taint and no pod is evicted for the health of its node, 0 otherwise. Only for policies with limits, and only on the leader.',
  ['policy'],
);

export const policyOverflowNodes = gauge(
  'node_lifecycle_policy_overflow_nodes',
  'Number of unhealthy nodes of the policy that may be emptied although its breaker is open. Only for policies with limits.overflow, while the breaker is open, and only on the leader.',
  ['policy'],
);

export const policyOpenWindows = gauge(
  'node_lifecycle_policy_open_windows',
  'Number of windows of the schedules of the policy that have begun and not ended. Only for policies with schedules.',
  ['policy'],
);

export const policyStuckPods = gauge(
  'node_lifecycle_policy_stuck_pods',
  'Number of pods of nodes of the policy that are terminating for longer than their grace period and terminatingTimeout, on a node that is not Ready. Only for policies with terminatingTimeout.',
  ['policy'],
);

export const policyStuckPodSeconds = gauge(
  'node_lifecycle_policy_stuck_pod_seconds',
  'Longest time in seconds since the end of the grace period of a pod that node_lifecycle_policy_stuck_pods counts; 0 without any. Only for policies with terminatingTimeout.',
  ['policy'],
);

export const policyEmptyingNodes = gauge(
  'node_lifecycle_policy_emptying_nodes',
  'Number of nodes of the policy that have a NoExecute taint for their health and pods that it evicts and that do not terminate yet. Only for policies with maxConcurrentEvictions.',
  ['policy'],
);
