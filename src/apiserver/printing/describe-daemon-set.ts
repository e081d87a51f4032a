import type { JsonMap } from '../../api/json-map.ts';
import { mapAt, mapsAt, numberAt, textAt, valueAt } from '../select-field.ts';
import { ageColumn, column, countColumn, nameColumn, type PrintedColumn, wideColumn } from './describe-columns.ts';

/** Daemon sets (upstream `printDaemonSet`). */
export const daemonSetColumns: readonly PrintedColumn[] = [
  nameColumn,
  statusCount('Desired', 'Number of nodes that should run the daemon pod.', 'desiredNumberScheduled'),
  statusCount('Current', 'Number of nodes that run the daemon pod and should.', 'currentNumberScheduled'),
  statusCount('Ready', 'Number of nodes that run a ready daemon pod.', 'numberReady'),
  statusCount('Up-to-date', 'Number of nodes that run the updated daemon pod.', 'updatedNumberScheduled'),
  statusCount('Available', 'Number of nodes that run an available daemon pod.', 'numberAvailable'),
  column('Node Selector', 'Labels that a node must have to run the daemon pod.', (set) =>
    describeSelector({ matchLabels: mapAt(set, 'spec', 'template', 'spec', 'nodeSelector') }),
  ),
  ageColumn,
  wideColumn('Containers', 'Names of the containers of the daemon pod.', (set) => containerTexts(set, 'name')),
  wideColumn('Images', 'Images of the containers of the daemon pod.', (set) => containerTexts(set, 'image')),
  wideColumn('Selector', 'Label selector of its pods.', (set) => describeSelector(mapAt(set, 'spec', 'selector'))),
];

function statusCount(name: string, description: string, field: string): PrintedColumn {
  return countColumn(name, description, (daemonSet) => numberAt(daemonSet, 'status', field));
}

function containerTexts(daemonSet: JsonMap, field: string): string {
  const containers = mapsAt(daemonSet, 'spec', 'template', 'spec', 'containers');
  return containers.map((container) => textAt(container, field)).join(',');
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
