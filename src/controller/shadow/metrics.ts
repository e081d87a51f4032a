import type { MetricDefinition } from '../../ports/meter.ts';

export const shadowMode: MetricDefinition = {
  name: 'node_lifecycle_shadow',
  kind: 'gauge',
  help: '1 while this process writes nothing and compares: every other count of acts is then of what it would have done.',
  stability: 'ALPHA',
};

export const shadowEpisodes: MetricDefinition = {
  name: 'node_lifecycle_shadow_episodes_total',
  kind: 'counter',
  help: 'Acts that the cluster and this process in shadow mode did at the same time, at different times, or one of them alone.',
  stability: 'ALPHA',
  labels: ['act', 'outcome'],
};

export const shadowDifference: MetricDefinition = {
  name: 'node_lifecycle_shadow_difference_seconds',
  kind: 'histogram',
  help: 'By how much the first of the two was ahead, where both acted.',
  stability: 'ALPHA',
  labels: ['act', 'first'],
  buckets: [0.1, 0.5, 1, 2.5, 5, 10, 20, 40, 60, 120, 300, 600],
};

export const shadowMetrics: readonly MetricDefinition[] = [shadowMode, shadowEpisodes, shadowDifference];
