import type { MetricDefinition } from '../../ports/meter.ts';

export const blindNow: MetricDefinition = {
  name: 'node_lifecycle_blind',
  kind: 'gauge',
  help: 'Whether verdicts are frozen because we do not trust what we see: 1 for the reason in force.',
  stability: 'ALPHA',
  labels: ['reason'],
};

export const blindSeconds: MetricDefinition = {
  name: 'node_lifecycle_blind_seconds_total',
  kind: 'counter',
  help: 'Time that was not held against any node because we would not have heard it, in seconds.',
  stability: 'ALPHA',
};

export const probesTotal: MetricDefinition = {
  name: 'node_lifecycle_sight_probes_total',
  kind: 'counter',
  help: 'Requests made only to know whether the API server answers, by result.',
  stability: 'ALPHA',
  labels: ['result'],
};

export const canaryLatency: MetricDefinition = {
  name: 'watch_canary_latency_seconds',
  kind: 'histogram',
  help: 'With --watch-canary: time from the answer to a write of ours until our stream showed it, in seconds.',
  stability: 'ALPHA',
  buckets: [0.005, 0.025, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60],
};

export const sightMetrics: readonly MetricDefinition[] = [blindNow, blindSeconds, probesTotal, canaryLatency];
