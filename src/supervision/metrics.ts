import type { MetricDefinition } from '../ports/meter.ts';

/** Upper bounds in seconds, as client-go has them: from ten nanoseconds in steps of ten. */
const buckets: readonly number[] = [1e-8, 1e-7, 1e-6, 1e-5, 1e-4, 1e-3, 0.01, 0.1, 1, 10, 100, 1_000];

function ofQueue(name: string, kind: MetricDefinition['kind'], help: string): MetricDefinition {
  const common = { name: `workqueue_${name}`, kind, help, stability: 'ALPHA', labels: ['name'] } as const;
  return kind === 'histogram' ? { ...common, buckets } : common;
}

export const queueDepth = ofQueue('depth', 'gauge', 'Keys that are due and wait for a worker.');
export const queueAdds = ofQueue('adds_total', 'counter', 'Keys added that did not wait already.');
export const queueDuration = ofQueue(
  'queue_duration_seconds',
  'histogram',
  'Time a key waited after it had become due, in seconds.',
);
export const workDuration = ofQueue('work_duration_seconds', 'histogram', 'Time one look at a key took, in seconds.');
export const unfinishedWork = ofQueue(
  'unfinished_work_seconds',
  'gauge',
  'Time spent so far on all the looks that have not ended, in seconds.',
);
export const longestRunning = ofQueue(
  'longest_running_processor_seconds',
  'gauge',
  'Time spent so far on the oldest look that has not ended, in seconds.',
);
export const queueRetries = ofQueue(
  'retries_total',
  'counter',
  'Looks after which a key was put back, to wait a while.',
);

/** Of every work queue, told apart by `name`: the names of client-go's work queues, for dashboards that know them. */
export const workQueueMetrics: readonly MetricDefinition[] = [
  queueDepth,
  queueAdds,
  queueDuration,
  workDuration,
  unfinishedWork,
  longestRunning,
  queueRetries,
];
