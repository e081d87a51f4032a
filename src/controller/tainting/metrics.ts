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

export const taintQueueOldest: MetricDefinition = {
  name: 'node_lifecycle_taint_queue_oldest_seconds',
  kind: 'gauge',
  help: 'Time that the node which has waited longest has been in the line for a NoExecute taint of its zone (in eviction mode: for the deletion of its pods), in seconds; 0 when none waits. Counts by our monotonic clock from when it got in line, time in which nothing is served included.',
  stability: 'ALPHA',
  labels: ['zone'],
};

export const zoneEvictionTokens: MetricDefinition = {
  name: 'node_lifecycle_zone_eviction_tokens',
  kind: 'gauge',
  help: "Tokens in the zone's limiter now: a node whose turn has come gets its NoExecute taint at 1.",
  stability: 'ALPHA',
  labels: ['zone'],
};

export const taintLatency: MetricDefinition = {
  name: 'node_lifecycle_taint_latency_seconds',
  kind: 'histogram',
  help: 'Time from the verdict of this process that a node is not ready or silent, the first since the node was Ready, to the answer that its NoExecute taint is written, in seconds by our monotonic clock. Waiting in line and holds count. Nodes that were found so, and taints that are swapped for each other, do not.',
  stability: 'ALPHA',
  buckets: [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300, 600, 1_800, 3_600],
};

export const taintingMetrics: readonly MetricDefinition[] = [
  evictionsTotal,
  taintQueueDepth,
  taintQueueOldest,
  zoneEvictionTokens,
  taintLatency,
];
