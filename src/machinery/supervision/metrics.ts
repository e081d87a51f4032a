import type { MetricDefinition } from '../ports/meter.ts';

/** Upper bounds in seconds, as in client-go: from ten nanoseconds in factors of ten. */
const buckets: readonly number[] = [1e-8, 1e-7, 1e-6, 1e-5, 1e-4, 1e-3, 0.01, 0.1, 1, 10, 100, 1_000];

function ofQueue(name: string, kind: MetricDefinition['kind'], help: string): MetricDefinition {
  const common = { name: `workqueue_${name}`, kind, help, stability: 'ALPHA', labels: ['name'] } as const;
  return kind === 'histogram' ? { ...common, buckets } : common;
}

export const queueDepth = ofQueue('depth', 'gauge', 'Number of keys that are due and wait for a worker.');
export const queueAdds = ofQueue('adds_total', 'counter', 'Number of keys added that were not queued already.');
export const queueDuration = ofQueue(
  'queue_duration_seconds',
  'histogram',
  'Time in seconds a key waited after it was due.',
);
export const workDuration = ofQueue('work_duration_seconds', 'histogram', 'Time in seconds to process one key.');
export const unfinishedWork = ofQueue(
  'unfinished_work_seconds',
  'gauge',
  'Time in seconds spent so far on all keys in process.',
);
export const longestRunning = ofQueue(
  'longest_running_processor_seconds',
  'gauge',
  'Time in seconds spent so far on the key that has been in process for the longest time.',
);
export const queueRetries = ofQueue('retries_total', 'counter', 'Number of keys queued again after processing.');
