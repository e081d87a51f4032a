import { mapAt, numberAt } from '../select-field.ts';
import { ageColumn, column, countColumn, nameColumn, type PrintedColumn } from './describe-columns.ts';
import { describeLabels, selectorColumn, templateColumns } from './describe-pod-template.ts';

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

function statusCount(name: string, description: string, field: string): PrintedColumn {
  return countColumn(name, description, (daemonSet) => numberAt(daemonSet, 'status', field));
}
