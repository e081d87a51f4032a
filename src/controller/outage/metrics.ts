import type { MetricDefinition } from '../../ports/meter.ts';

export const silentNodesTotal: MetricDefinition = {
  name: 'node_lifecycle_silent_nodes_total',
  kind: 'counter',
  help: 'Nodes that fell silent, by what their silence was taken for: NodeFailure, ZoneFailure or ControlPlanePathFailure.',
  stability: 'ALPHA',
  labels: ['outage'],
};

export const outageInForce: MetricDefinition = {
  name: 'node_lifecycle_outage_hold',
  kind: 'gauge',
  help: 'Whether acts are held back because of this outage: ObserverStale freezes verdicts, ControlPlanePathFailure the marking of pods and NoExecute taints.',
  stability: 'ALPHA',
  labels: ['outage'],
};

export const outageMetrics: readonly MetricDefinition[] = [silentNodesTotal, outageInForce];
