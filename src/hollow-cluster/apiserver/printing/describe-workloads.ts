/** Deployments, ReplicaSets, StatefulSets, their scale, and budgets (upstream `printDeployment` and its neighbours). */
import type { JsonMap } from '../../../machinery/api/json-map.ts';
import { numberAt, valueAt } from '../select-field.ts';
import { ageColumn, column, countColumn, nameColumn, numberColumn, type PrintedColumn } from './describe-columns.ts';
import { selectorColumn, templateColumns } from './describe-pod-template.ts';

const readyColumn = column('Ready', 'Number of ready pods, and of those that are wanted.', (owner) => {
  return `${numberAt(owner, 'status', 'readyReplicas')}/${numberAt(owner, 'spec', 'replicas')}`;
});

function statusCount(name: string, description: string, field: string): PrintedColumn {
  return countColumn(name, description, (owner) => numberAt(owner, 'status', field));
}

export const deploymentColumns: readonly PrintedColumn[] = [
  nameColumn,
  readyColumn,
  numberColumn('Up-to-date', 'Number of pods of the current template.', (owner) =>
    numberAt(owner, 'status', 'updatedReplicas'),
  ),
  numberColumn('Available', 'Number of available pods.', (owner) => numberAt(owner, 'status', 'availableReplicas')),
  ageColumn,
  ...templateColumns,
  selectorColumn,
];

export const replicaSetColumns: readonly PrintedColumn[] = [
  nameColumn,
  countColumn('Desired', 'Number of pods that are wanted.', (owner) => numberAt(owner, 'spec', 'replicas')),
  statusCount('Current', 'Number of pods that exist.', 'replicas'),
  statusCount('Ready', 'Number of ready pods.', 'readyReplicas'),
  ageColumn,
  ...templateColumns,
  selectorColumn,
];

export const statefulSetColumns: readonly PrintedColumn[] = [nameColumn, readyColumn, ageColumn, ...templateColumns];

export const budgetColumns: readonly PrintedColumn[] = [
  nameColumn,
  column('Min Available', 'Pods that must stay available.', (budget) => describeLimit(budget, 'minAvailable')),
  column('Max Unavailable', 'Pods that may be unavailable.', (budget) => describeLimit(budget, 'maxUnavailable')),
  statusCount('Allowed Disruptions', 'Number of pods that may be evicted now.', 'disruptionsAllowed'),
  ageColumn,
];

/** Of the subresource `scale` (upstream `printScale`). */
export const scaleColumns: readonly PrintedColumn[] = [
  { ...nameColumn, format: '' },
  countColumn('Desired', 'Number of pods that are wanted.', (scale) => numberAt(scale, 'spec', 'replicas')),
  countColumn('Available', 'Number of pods that exist.', (scale) => numberAt(scale, 'status', 'replicas')),
  ageColumn,
];

function describeLimit(budget: JsonMap, field: string): string {
  const value = valueAt(budget, 'spec', field);
  return typeof value === 'number' || typeof value === 'string' ? String(value) : 'N/A';
}
