import type { MetricDefinition } from '../../ports/meter.ts';

export const allNodesHealthDuration: MetricDefinition = {
  name: 'node_collector_update_all_nodes_health_duration_seconds',
  kind: 'histogram',
  help: 'Time one monitor pass took to look at every node that changed or fell due, in seconds.',
  stability: 'ALPHA',
  buckets: [0.01, 0.04, 0.16, 0.64, 2.56, 10.24, 40.96, 163.84],
};

export const nodeHealthDuration: MetricDefinition = {
  name: 'node_collector_update_node_health_duration_seconds',
  kind: 'histogram',
  help: 'Time it took to bring one node in order, its writes included, in seconds.',
  stability: 'ALPHA',
  buckets: [0.001, 0.004, 0.016, 0.064, 0.256, 1.024, 4.096, 16.384],
};

export const verdictsTotal: MetricDefinition = {
  name: 'node_lifecycle_verdicts_total',
  kind: 'counter',
  help: 'Verdicts on nodes at which they changed, by what they say. silent: nothing heard for longer than the grace period, and the API server itself has nothing newer; never-posted: the same of a node without a status, and its startup grace period; withheld: it looked silent, but the API server has a newer lease or could not be asked, counted once until it is judged again; not-ready: its kubelet says so; ready: Ready again. How a node was found when this process began to look is no verdict of its own.',
  stability: 'ALPHA',
  labels: ['verdict'],
};

export const detectionLatency: MetricDefinition = {
  name: 'node_lifecycle_detection_latency_seconds',
  kind: 'histogram',
  help: "Time from a node's last sign of life to the verdict silent or never-posted, in seconds. The sign counts from when we noticed it; of a node that never posted a status and has no lease, from its creation. The clock is that of the verdicts: time in which we would not have heard the node is credited to it and not in here, but in node_lifecycle_blind_seconds_total.",
  stability: 'ALPHA',
  buckets: [10, 20, 30, 40, 45, 50, 51, 52, 55, 60, 75, 90, 120, 180, 300],
};

export const recoveredNodes: MetricDefinition = {
  name: 'node_lifecycle_recovered_nodes_total',
  kind: 'counter',
  help: 'Nodes that were silent and are no longer, by the boot ID in their status. same: as before the silence, so the machine had never been down, and its pods had probably been running; changed: it was restarted; unknown: there is none to compare.',
  stability: 'ALPHA',
  labels: ['boot'],
};

export const healthMetrics: readonly MetricDefinition[] = [
  allNodesHealthDuration,
  nodeHealthDuration,
  verdictsTotal,
  detectionLatency,
  recoveredNodes,
];
