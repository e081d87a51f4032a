import { gauge } from '../../machinery/ports/meter.ts';

export const markingQueueLength = gauge(
  'node_lifecycle_marking_queue_depth',
  'Number of silent nodes of the zone that wait in the queue for the marking of their pods as NotReady.',
  ['zone'],
);

export const markingQueueOldest = gauge(
  'node_lifecycle_marking_queue_oldest_seconds',
  'Time in seconds that the oldest node in the pod marking queue of the zone has waited, holds included, by the monotonic clock. Only zones in which a node waits have a series.',
  ['zone'],
);
