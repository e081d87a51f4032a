import { counter, gauge, histogram, type MetricDefinition } from '../../machinery/ports/meter.ts';

export const evictionsTotal: MetricDefinition = {
  ...counter(
    'node_collector_evictions_total',
    "Number of NoExecute taints added at the zone's rate since the process started.",
    ['zone'],
  ),
  stability: 'STABLE',
};

export const taintQueueDepth = gauge(
  'node_lifecycle_taint_queue_depth',
  'Number of nodes of the zone that wait in the queue for a NoExecute taint.',
  ['zone'],
);

export const taintQueueOldest = gauge(
  'node_lifecycle_taint_queue_oldest_seconds',
  'Time in seconds that the oldest node in the NoExecute taint queue of the zone (in eviction mode: the pod deletion queue) has waited, by the monotonic clock; 0 when none waits. Time during which the queue is stopped is included.',
  ['zone'],
);

export const zoneEvictionTokens = gauge(
  'node_lifecycle_zone_eviction_tokens',
  "Number of tokens in the zone's rate limiter: the first node in the queue gets its NoExecute taint at 1.",
  ['zone'],
);

export const taintLatency = histogram(
  'node_lifecycle_taint_latency_seconds',
  'Time in seconds from the first assessment of a node as not ready or silent to the accepted write of its NoExecute taint, with queue and holds. Nodes that were found in that state, and a taint that replaces the other one, are not counted.',
  [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300, 600, 1_800, 3_600],
);
