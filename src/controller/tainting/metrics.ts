import type { MetricDefinition } from '../../ports/meter.ts';

export const evictionsTotal: MetricDefinition = {
  name: 'node_collector_evictions_total',
  kind: 'counter',
  help: "NoExecute taints added at the zone's rate since this process started.",
  stability: 'STABLE',
  labels: ['zone'],
};

export const taintQueueDepth: MetricDefinition = {
  name: 'node_lifecycle_taint_queue_depth',
  kind: 'gauge',
  help: 'Nodes of the zone that wait for a NoExecute taint.',
  stability: 'ALPHA',
  labels: ['zone'],
};

export const taintingMetrics: readonly MetricDefinition[] = [evictionsTotal, taintQueueDepth];
