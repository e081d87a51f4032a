import { counter, gauge, histogram } from '../../../machinery/ports/meter.ts';

export const nodesInState = gauge(
  'hollow_nodes',
  'Number of hollow nodes of this process, by state: all, registered, ready, cut_off, unhealthy.',
  ['state'],
);

export const nodeRequestsTotal = counter(
  'hollow_nodes_requests_total',
  'Number of requests of hollow nodes, including those that a fault dropped, by verb, resource and result.',
  ['verb', 'resource', 'result'],
);

export const activeFaults = gauge('hollow_nodes_active_faults', 'Number of active faults on nodes, by kind of fault.', [
  'kind',
]);

export const wakeLatenessSeconds = histogram(
  'hollow_nodes_wake_lateness_seconds',
  'Time in seconds by which scheduled work ran late. With a 99th percentile above 1 s the run is not a valid load test.',
  [0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 30, 60],
);
