import { counter, gauge } from '../../machinery/ports/meter.ts';

export const silentNodesTotal = counter(
  'node_lifecycle_silent_nodes_total',
  'Number of nodes that became silent, by class of outage: NodeFailure, ZoneFailure or ControlPlanePathFailure.',
  ['outage'],
);

export const outageInForce = gauge(
  'node_lifecycle_outage_hold',
  '1 while actions are held because of this outage, 0 otherwise. ObserverStale pauses node health evaluation, ControlPlanePathFailure the marking of pods and NoExecute taints.',
  ['outage'],
);

export const outageHoldAge = gauge(
  'node_lifecycle_outage_hold_age_seconds',
  'Time in seconds since the first node of a ControlPlanePathFailure became silent, while its hold is in force; 0 otherwise. Time during which watch streams are stale does not count.',
);

export const outageHoldLimit = gauge(
  'node_lifecycle_outage_hold_limit_seconds',
  'Age in seconds at which the hold in force ends at the latest, +Inf where the flag sets no limit; 0 while there is no hold.',
);
