import type { MetricDefinition } from '../../ports/meter.ts';

export const statusSetterSeconds: MetricDefinition = {
  name: 'hollow_kubelet_status_setter_duration_seconds',
  kind: 'histogram',
  help: 'Time that a status setter took which does not answer at once, in seconds.',
  stability: 'ALPHA',
  labels: ['setter'],
  buckets: [0.001, 0.01, 0.1, 0.5, 1, 5],
};
