import { counter } from '../../machinery/ports/meter.ts';

/** Counted when the API server has accepted the deletion; kube-controller-manager counts attempts. */
export const forceDeletedPods = counter(
  'pod_gc_collector_force_delete_pods_total',
  'Number of pods that the pod garbage collector deleted without a grace period, by namespace and reason. Counted when the API server has accepted the deletion; kube-controller-manager counts attempts.',
  ['namespace', 'reason'],
);

export const forceDeleteErrors = counter(
  'pod_gc_collector_force_delete_pod_errors_total',
  'Number of failed pod deletions by the pod garbage collector, by namespace and reason. Each is retried in the next round.',
  ['namespace', 'reason'],
);
