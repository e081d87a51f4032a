import { counter, gauge, histogram } from '../../machinery/ports/meter.ts';

export const podDeletionsTotal = counter(
  'taint_eviction_controller_pod_deletions_total',
  'Number of pods deleted because of a NoExecute taint since the process started.',
);

export const podDeletionDuration = histogram(
  'taint_eviction_controller_pod_deletion_duration_seconds',
  'Time in seconds from the moment a pod was due for eviction to its deletion. kube-controller-manager records nanoseconds here, so that every deletion is in the last bucket.',
  [0.005, 0.025, 0.1, 0.5, 1, 2.5, 10, 30, 60, 120, 180, 240],
);

export const evictionsScheduled = gauge(
  'node_lifecycle_evictions_scheduled',
  'Number of pods whose deletion is scheduled and not yet due.',
);

export const evictionHoldsExpired = counter(
  'node_lifecycle_eviction_holds_expired_total',
  'Number of pod deletions that were held for the maximum time of the reason, after which a live read of the node decided, by reason.',
  ['reason'],
);

export const evictionsRefused = counter(
  'node_lifecycle_evictions_refused_total',
  'Number of requests to the Eviction API that were refused, by reason: budget, a PodDisruptionBudget; forbidden; not-served; rejected; internal, such as several budgets for one pod. Only with policies that set evictReachable.',
  ['reason'],
);

export const evictionsTimedOut = counter(
  'node_lifecycle_evictions_timed_out_total',
  'Number of pods of reachable nodes that were deleted because the Eviction API did not evict them until the timeout. Only with policies that set evictReachable.',
);
