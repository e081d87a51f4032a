import type { MetricDefinition } from '../../ports/meter.ts';

export const zoneSize: MetricDefinition = {
  name: 'node_collector_zone_size',
  kind: 'gauge',
  help: "Nodes that count in the zone's arithmetic.",
  stability: 'ALPHA',
  labels: ['zone'],
};

export const zoneHealth: MetricDefinition = {
  name: 'node_collector_zone_health',
  kind: 'gauge',
  help: "Share of the zone's counted nodes that are Ready, in per cent.",
  stability: 'ALPHA',
  labels: ['zone'],
};

export const unhealthyNodesInZone: MetricDefinition = {
  name: 'node_collector_unhealthy_nodes_in_zone',
  kind: 'gauge',
  help: 'Counted nodes of the zone that are not Ready or Unknown.',
  stability: 'ALPHA',
  labels: ['zone'],
};

export const zoneEvictionRate: MetricDefinition = {
  name: 'node_lifecycle_zone_eviction_rate',
  kind: 'gauge',
  help: 'NoExecute taints a second that the zone may receive now; 0 while it is stopped.',
  stability: 'ALPHA',
  labels: ['zone'],
};

export const zoneState: MetricDefinition = {
  name: 'node_lifecycle_zone_state',
  kind: 'gauge',
  help: 'How bad the zone is, as judged by the last monitor pass: 1 for the state in force, 0 for the others of Initial (not judged yet), Normal, PartialDisruption and FullDisruption.',
  stability: 'ALPHA',
  labels: ['zone', 'state'],
};

export const zoneMetrics: readonly MetricDefinition[] = [
  zoneSize,
  zoneHealth,
  unhealthyNodesInZone,
  zoneEvictionRate,
  zoneState,
];
