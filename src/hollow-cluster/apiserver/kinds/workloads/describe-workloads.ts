/** Columns of Deployments, ReplicaSets, StatefulSets, DaemonSets and their scale (upstream `printDeployment` and its neighbours). */
import { mapAt, numberAt } from '../../select-field.ts';
import {
  ageColumn,
  column,
  countColumn,
  nameColumn,
  numberColumn,
  type PrintedColumn,
} from '../../printing/describe-columns.ts';
import { describeLabels, selectorColumn, templateColumns } from './describe-pod-template.ts';

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

/** Columns of the subresource `scale` (upstream `printScale`). */
export const scaleColumns: readonly PrintedColumn[] = [
  { ...nameColumn, format: '' },
  countColumn('Desired', 'Number of pods that are wanted.', (scale) => numberAt(scale, 'spec', 'replicas')),
  countColumn('Available', 'Number of pods that exist.', (scale) => numberAt(scale, 'status', 'replicas')),
  ageColumn,
];

/** Daemon sets (upstream `printDaemonSet`). */
export const daemonSetColumns: readonly PrintedColumn[] = [
  nameColumn,
  statusCount('Desired', 'Number of nodes that should run the daemon pod.', 'desiredNumberScheduled'),
  statusCount('Current', 'Number of nodes that run the daemon pod and should.', 'currentNumberScheduled'),
  statusCount('Ready', 'Number of nodes that run a ready daemon pod.', 'numberReady'),
  statusCount('Up-to-date', 'Number of nodes that run the updated daemon pod.', 'updatedNumberScheduled'),
  statusCount('Available', 'Number of nodes that run an available daemon pod.', 'numberAvailable'),
  column('Node Selector', 'Labels that a node must have to run the daemon pod.', (set) =>
    describeLabels(mapAt(set, 'spec', 'template', 'spec', 'nodeSelector')),
  ),
  ageColumn,
  ...templateColumns,
  selectorColumn,
];
