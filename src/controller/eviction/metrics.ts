import type { MetricDefinition } from '../../ports/meter.ts';

export const podDeletionsTotal: MetricDefinition = {
  name: 'taint_eviction_controller_pod_deletions_total',
  kind: 'counter',
  help: 'Pods deleted because of a NoExecute taint since this process started.',
  stability: 'ALPHA',
};

export const podDeletionDuration: MetricDefinition = {
  name: 'taint_eviction_controller_pod_deletion_duration_seconds',
  kind: 'histogram',
  help: "Time from the end of a pod's patience to its deletion, in seconds, as the name says. In kube-controller-manager it is in nanoseconds by mistake, so that every deletion lands in the last bucket.",
  stability: 'ALPHA',
  buckets: [0.005, 0.025, 0.1, 0.5, 1, 2.5, 10, 30, 60, 120, 180, 240],
};

export const evictionsScheduled: MetricDefinition = {
  name: 'node_lifecycle_evictions_scheduled',
  kind: 'gauge',
  help: 'Pods whose deletion is scheduled and not yet due.',
  stability: 'ALPHA',
};

export const evictionMetrics: readonly MetricDefinition[] = [
  podDeletionsTotal,
  podDeletionDuration,
  evictionsScheduled,
];
