/** Priority classes, runtime classes and devices (upstream `printPriorityClass`, `printRuntimeClass`, `printResourceClaim` ...). */
import type { JsonMap } from '../../../machinery/api/json-map.ts';
import { isMap, numberAt, textAt, valueAt } from '../select-field.ts';
import { ageColumn, booleanColumn, column, countColumn, nameColumn, type PrintedColumn } from './describe-columns.ts';

export const priorityClassColumns: readonly PrintedColumn[] = [
  nameColumn,
  countColumn('Value', 'Priority of its pods.', (priorityClass) => numberAt(priorityClass, 'value')),
  booleanColumn(
    'Global-Default',
    'Whether it applies to pods without a priority class.',
    (priorityClass) => valueAt(priorityClass, 'globalDefault') === true,
  ),
  ageColumn,
  column('PreemptionPolicy', 'Whether its pods preempt others.', (priorityClass) =>
    textAt(priorityClass, 'preemptionPolicy'),
  ),
];

export const runtimeClassColumns: readonly PrintedColumn[] = [
  nameColumn,
  column('Handler', 'Name of the handler in the container runtime.', (runtimeClass) => textAt(runtimeClass, 'handler')),
  ageColumn,
];

/** Of device classes and of templates of resource claims. */
export const nameAndAgeColumns: readonly PrintedColumn[] = [nameColumn, ageColumn];

export const resourceClaimColumns: readonly PrintedColumn[] = [
  nameColumn,
  column('State', 'Whether it is allocated, reserved or being deleted.', describeClaimState),
  ageColumn,
];

export const resourceSliceColumns: readonly PrintedColumn[] = [
  nameColumn,
  column('Node', 'Node of the devices.', (slice) => textAt(slice, 'spec', 'nodeName')),
  column('Driver', 'Driver of the devices.', (slice) => textAt(slice, 'spec', 'driver')),
  column('Pool', 'Pool of the devices.', (slice) => textAt(slice, 'spec', 'pool', 'name')),
  ageColumn,
];

function describeClaimState(claim: JsonMap): string {
  const deleted = textAt(claim, 'metadata', 'deletionTimestamp') !== '';
  if (!isMap(valueAt(claim, 'status', 'allocation'))) return deleted ? 'deleted' : 'pending';
  const reserved = valueAt(claim, 'status', 'reservedFor');
  const states = [
    deleted ? 'deleted' : '',
    'allocated',
    Array.isArray(reserved) && reserved.length > 0 ? 'reserved' : '',
  ];
  return states.filter((state) => state !== '').join(',');
}
