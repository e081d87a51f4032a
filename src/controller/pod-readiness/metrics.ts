import type { MetricDefinition } from '../../ports/meter.ts';

export const markingLineLength: MetricDefinition = {
  name: 'node_lifecycle_marking_queue_depth',
  kind: 'gauge',
  help: 'Silent nodes of the zone that wait for their turn to have their pods marked NotReady.',
  stability: 'ALPHA',
  labels: ['zone'],
};

export const markingLineOldest: MetricDefinition = {
  name: 'node_lifecycle_marking_queue_oldest_seconds',
  kind: 'gauge',
  help: 'Time that the silent node which has waited longest has been in the line of its zone to have its pods marked NotReady, in seconds by our monotonic clock, holds included. Only zones in which one waits have a series.',
  stability: 'ALPHA',
  labels: ['zone'],
};

export const podReadinessMetrics: readonly MetricDefinition[] = [markingLineLength, markingLineOldest];
