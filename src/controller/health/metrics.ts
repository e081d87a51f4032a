import { counter, gauge, histogram } from '../../machinery/ports/meter.ts';

export const allNodesHealthDuration = histogram(
  'node_collector_update_all_nodes_health_duration_seconds',
  'Time in seconds to evaluate all nodes that changed or were due, in one monitor pass.',
  [0.01, 0.04, 0.16, 0.64, 2.56, 10.24, 40.96, 163.84],
);

export const nodeHealthDuration = histogram(
  'node_collector_update_node_health_duration_seconds',
  'Time in seconds to reconcile one node, writes included.',
  [0.001, 0.004, 0.016, 0.064, 0.256, 1.024, 4.096, 16.384],
);

export const transitionsTotal = counter(
  'node_lifecycle_assessments_total',
  'Number of changes of the assessed health of a node, by assessment: silent, never-posted, withheld, not-ready or ready. The state in which a node was found when the process started is not counted.',
  ['assessment'],
);

export const detectionLatency = histogram(
  'node_lifecycle_detection_latency_seconds',
  "Time in seconds from a node's last heartbeat, as observed, to the assessment silent, or from its creation to never-posted. Time during which watch streams were stale is not included; it is in node_lifecycle_stale_seconds_total.",
  [10, 20, 30, 40, 45, 50, 51, 52, 55, 60, 75, 90, 120, 180, 300],
);

export const recoveredNodes = counter(
  'node_lifecycle_recovered_nodes_total',
  'Number of nodes that were silent and recovered, by the boot ID in their status. same: as before the silence, so the machine did not restart and its pods probably kept running; changed: the machine restarted; unknown: no boot ID to compare.',
  ['boot'],
);

export const uncoveredNodes = counter(
  'node_lifecycle_uncovered_nodes_total',
  'Number of nodes that the resync found without a deadline, a queued evaluation or a pending lease confirmation. Always 0: anything else is a defect of the controller.',
);

export const unnoticedSilentNodes = gauge(
  'node_lifecycle_unnoticed_silent_nodes',
  'Number of nodes that are Ready=True in the API although no heartbeat arrived for more than twice the grace period and no hold explains it.',
);
