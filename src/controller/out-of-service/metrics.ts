import { counter } from '../../machinery/ports/meter.ts';

export const outOfServiceTaints = counter(
  'node_lifecycle_out_of_service_taints_total',
  'Number of changes of the taint out-of-service, by change: added to a node that was proven to be fenced, removed from one that is back with another boot ID. Only with policies that have outOfService.',
  ['change'],
);
