import type { PrintedRow, Printer } from './column.ts';
import { type Fields, fieldsAt, listAt, numberAt, textAt, valueAt } from './derive-field.ts';
import { ageSince } from './describe-age.ts';
import { ageColumn, column, countColumn, nameColumn, wideColumn } from './describe-columns.ts';

/** Daemon sets (upstream `printDaemonSet`). */
export const daemonSetPrinter: Printer = {
  columns: [
    nameColumn,
    countColumn('Desired', 'Nodes that should run its pod.'),
    countColumn('Current', 'Nodes that run its pod and should.'),
    countColumn('Ready', 'Nodes on which its pod is ready.'),
    countColumn('Up-to-date', 'Nodes that run the newest version of its pod.'),
    countColumn('Available', 'Nodes on which its pod has been ready for long enough.'),
    column('Node Selector', 'Labels a node needs to run its pod.'),
    ageColumn,
    wideColumn('Containers', 'Names of the containers of its pod.'),
    wideColumn('Images', 'Images of the containers of its pod.'),
    wideColumn('Selector', 'Labels by which it knows its pods.'),
  ],
  print: describeDaemonSet,
};

function describeDaemonSet(daemonSet: Fields, nowMs: number): PrintedRow {
  const status = fieldsAt(daemonSet, 'status');
  const podSpec = fieldsAt(daemonSet, 'spec', 'template', 'spec');
  const containers = listAt(podSpec, 'containers');
  return {
    cells: [
      textAt(daemonSet, 'metadata', 'name'),
      numberAt(status, 'desiredNumberScheduled'),
      numberAt(status, 'currentNumberScheduled'),
      numberAt(status, 'numberReady'),
      numberAt(status, 'updatedNumberScheduled'),
      numberAt(status, 'numberAvailable'),
      describeLabels(fieldsAt(podSpec, 'nodeSelector')).join(',') || '<none>',
      ageSince(textAt(daemonSet, 'metadata', 'creationTimestamp'), nowMs),
      containers.map((container) => textAt(container, 'name')).join(','),
      containers.map((container) => textAt(container, 'image')).join(','),
      describeSelector(fieldsAt(daemonSet, 'spec', 'selector')),
    ],
  };
}

function describeLabels(labels: Fields): readonly string[] {
  return Object.keys(labels)
    .sort()
    .map((key) => `${key}=${textAt(labels, key)}`);
}

/** A label selector in the syntax of `kubectl -l`, its terms in order of their keys (upstream `metav1.FormatLabelSelector`). */
function describeSelector(selector: Fields): string {
  const labels = fieldsAt(selector, 'matchLabels');
  const terms = [
    ...Object.keys(labels).map((key) => ({ key, text: `${key}=${textAt(labels, key)}` })),
    ...listAt(selector, 'matchExpressions').map((term) => ({
      key: textAt(term, 'key'),
      text: describeExpression(term),
    })),
  ];
  const sorted = terms.sort((a, b) => (a.key < b.key ? -1 : Number(a.key > b.key)));
  return sorted.map((term) => term.text).join(',') || '<none>';
}

function describeExpression(expression: Fields): string {
  const key = textAt(expression, 'key');
  const values = valueAt(expression, 'values');
  const list = `(${Array.isArray(values) ? values.map(String).sort().join(',') : ''})`;
  const operator = textAt(expression, 'operator');
  if (operator === 'In') return `${key} in ${list}`;
  if (operator === 'NotIn') return `${key} notin ${list}`;
  return operator === 'DoesNotExist' ? `!${key}` : key;
}
