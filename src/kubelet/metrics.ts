import type { MetricDefinition } from '../ports/meter.ts';
import { statusSetterSeconds } from './node-status/metrics.ts';

export const nodesInState: MetricDefinition = {
  name: 'hollow_nodes',
  kind: 'gauge',
  help: 'Hollow nodes of this process, by what is known of them: all, registered, ready, cut_off, unhealthy.',
  stability: 'ALPHA',
  labels: ['state'],
};

export const nodeRequestsTotal: MetricDefinition = {
  name: 'hollow_nodes_requests_total',
  kind: 'counter',
  help: 'Requests that hollow nodes made, those included that a fault lost on the way, by what came of them.',
  stability: 'ALPHA',
  labels: ['verb', 'resource', 'result'],
};

export const activeFaults: MetricDefinition = {
  name: 'hollow_nodes_active_faults',
  kind: 'gauge',
  help: 'Nodes that have a fault, summed over the faults of each kind.',
  stability: 'ALPHA',
  labels: ['kind'],
};

export const wakeLatenessSeconds: MetricDefinition = {
  name: 'hollow_nodes_wake_lateness_seconds',
  kind: 'histogram',
  help: 'How much later than it was due something was done, in seconds. Beyond 1 s at the 99th percentile the run is no valid load test.',
  stability: 'ALPHA',
  buckets: [0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 30, 60],
};

/** What the fleet counts; what its informers, requests and events count comes on top. */
export const fleetMetrics: readonly MetricDefinition[] = [
  nodesInState,
  nodeRequestsTotal,
  activeFaults,
  wakeLatenessSeconds,
  statusSetterSeconds,
];
