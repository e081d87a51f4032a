import { gauge } from '../../machinery/ports/meter.ts';

export const zoneSize = gauge(
  'node_collector_zone_size',
  "Number of nodes that count for the zone's disruption state.",
  ['zone'],
);

export const zoneHealth = gauge(
  'node_collector_zone_health',
  "Percentage of the zone's counted nodes that are Ready.",
  ['zone'],
);

export const unhealthyNodesInZone = gauge(
  'node_collector_unhealthy_nodes_in_zone',
  'Number of counted nodes of the zone that are not Ready or Unknown.',
  ['zone'],
);

export const zoneEvictionRate = gauge(
  'node_lifecycle_zone_eviction_rate',
  'Number of NoExecute taints per second that the zone may receive; 0 while evictions are stopped.',
  ['zone'],
);

export const zoneState = gauge(
  'node_lifecycle_zone_state',
  'Disruption state of the zone as of the last monitor pass: 1 for the current state, 0 for the others of Initial (not evaluated yet), Normal, PartialDisruption and FullDisruption.',
  ['zone', 'state'],
);
