/** Columns of Deployments, ReplicaSets, StatefulSets, DaemonSets and their scale (upstream `printDeployment` and its neighbours). */
import { mapAt, numberAt, mapsAt, textAt, valueAt } from '../../../../machinery/api/select-field.ts';
import {
  ageColumn,
  column,
  countColumn,
  nameColumn,
  numberColumn,
  type PrintedColumn,
  wideColumn,
} from '../../printing/describe-columns.ts';
import type { JsonMap } from '../../../../machinery/api/json-map.ts';

const templateColumns: readonly PrintedColumn[] = [
  wideColumn('Containers', 'Names of the containers of its pods.', (owner) => textsOfContainers(owner, 'name')),
  wideColumn('Images', 'Images of the containers of its pods.', (owner) => textsOfContainers(owner, 'image')),
];

const selectorColumn: PrintedColumn = wideColumn('Selector', 'Label selector of its pods.', (owner) =>
  describeSelector(mapAt(owner, 'spec', 'selector')),
);

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

function textsOfContainers(owner: JsonMap, field: string): string {
  const containers = mapsAt(owner, 'spec', 'template', 'spec', 'containers');
  return containers.map((container) => textAt(container, field)).join(',');
}

/** Labels as `a=1,b=2`, in order; `<none>` without any (upstream `labels.FormatLabels`). */
function describeLabels(labels: JsonMap): string {
  const texts = Object.entries(labels).map(([key, value]) => `${key}=${String(value)}`);
  return texts.sort().join(',') || '<none>';
}

/** A label selector in the syntax of `kubectl -l`, its terms in order of their keys (upstream `metav1.FormatLabelSelector`). */
function describeSelector(selector: JsonMap): string {
  const labels = mapAt(selector, 'matchLabels');
  const terms = [
    ...Object.keys(labels).map((key) => ({ key, text: `${key}=${textAt(labels, key)}` })),
    ...mapsAt(selector, 'matchExpressions').map((term) => ({
      key: textAt(term, 'key'),
      text: describeExpression(term),
    })),
  ];
  const sorted = terms.sort((a, b) => (a.key < b.key ? -1 : Number(a.key > b.key)));
  return sorted.map(({ text }) => text).join(',') || '<none>';
}

function describeExpression(expression: JsonMap): string {
  const key = textAt(expression, 'key');
  const values = valueAt(expression, 'values');
  const list = `(${Array.isArray(values) ? values.map(String).sort().join(',') : ''})`;
  const operator = textAt(expression, 'operator');
  if (operator === 'In') return `${key} in ${list}`;
  if (operator === 'NotIn') return `${key} notin ${list}`;
  return operator === 'DoesNotExist' ? `!${key}` : key;
}
