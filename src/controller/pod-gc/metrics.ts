import type { MetricDefinition } from '../../ports/meter.ts';

/** Counted when the API server has accepted the deletion; the reference counts attempts. */
export const forceDeletedPods: MetricDefinition = {
  name: 'pod_gc_collector_force_delete_pods_total',
  kind: 'counter',
  help: 'Pods that the garbage collector deleted without grace, by the rule they fell under. Counted when the API server has accepted it; kube-controller-manager counts the attempts.',
  stability: 'ALPHA',
  labels: ['namespace', 'reason'],
};

export const forceDeleteErrors: MetricDefinition = {
  name: 'pod_gc_collector_force_delete_pod_errors_total',
  kind: 'counter',
  help: 'Pods that the garbage collector wanted to delete and could not; they are tried again in the next round.',
  stability: 'ALPHA',
  labels: ['namespace', 'reason'],
};

export const podGcMetrics: readonly MetricDefinition[] = [forceDeletedPods, forceDeleteErrors];
