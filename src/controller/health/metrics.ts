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

export const healthMetrics: readonly MetricDefinition[] = [allNodesHealthDuration, nodeHealthDuration];
