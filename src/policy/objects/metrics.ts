import { counter, gauge } from '../../machinery/ports/meter.ts';

export const policyObjectAccepted = gauge(
  'node_lifecycle_policy_object_accepted',
  '1 if the current version of the NodeLifecyclePolicy object is in force, 0 if it is not valid: then the last valid version stays in force, if this process has seen one. Only with --policy-source=crd.',
  ['policy'],
);

export const policyStatusWrites = counter(
  'node_lifecycle_policy_status_writes_total',
  'Number of writes of the status of NodeLifecyclePolicy objects, by result: written, or the reason of the failure. Only with --policy-source=crd.',
  ['result'],
);
