import type { MetricDefinition } from '../../ports/meter.ts';

export const markingLineLength: MetricDefinition = {
  name: 'node_lifecycle_marking_queue_depth',
  kind: 'gauge',
  help: 'Silent nodes of the zone that wait for their turn to have their pods marked NotReady.',
  stability: 'ALPHA',
  labels: ['zone'],
};

export const podReadinessMetrics: readonly MetricDefinition[] = [markingLineLength];
