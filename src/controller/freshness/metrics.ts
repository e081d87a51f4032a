import { counter, gauge, histogram } from '../../machinery/ports/meter.ts';

export const staleNow = gauge(
  'node_lifecycle_stale',
  '1 for the reason for which node health evaluation is paused because watch streams are stale, 0 otherwise.',
  ['reason'],
);

export const staleSeconds = counter(
  'node_lifecycle_stale_seconds_total',
  'Time in seconds that is not counted against any node because watch streams were stale and a heartbeat would not have been received.',
);

export const listFallbackActive = gauge(
  'node_lifecycle_stand_in_lists',
  '1 while nodes and leases are listed repeatedly because a watch has been stale for longer than --stale-watch-hold, 0 otherwise.',
);

export const probesTotal = counter(
  'node_lifecycle_freshness_probes_total',
  'Number of requests that only check whether the API server answers, by result.',
  ['result'],
);

export const canaryLatency = histogram(
  'watch_canary_latency_seconds',
  'Time in seconds from the response to a write of the canary lease until the lease watch delivered it. Only with --watch-canary.',
  [0.005, 0.025, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60],
);
