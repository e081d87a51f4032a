/** Columns of objects with a pod template and a selector, printed by `-o wide`. */
import type { JsonMap } from '../../../../machinery/api/json-map.ts';
import { mapAt, mapsAt, textAt, valueAt } from '../../select-field.ts';
import { column, type PrintedColumn, wideColumn } from '../../printing/describe-columns.ts';

export const templateColumns: readonly PrintedColumn[] = containerColumns('spec', 'template').map((column) => ({
  ...column,
  priority: 1,
}));

export const selectorColumn: PrintedColumn = wideColumn('Selector', 'Label selector of its pods.', (owner) =>
  describeSelector(mapAt(owner, 'spec', 'selector')),
);

/** Names and images of the containers of the pod template at a path. */
function containerColumns(...path: readonly string[]): readonly PrintedColumn[] {
  const textsOf = (owner: JsonMap, field: string): string =>
    mapsAt(owner, ...path, 'spec', 'containers')
      .map((container) => textAt(container, field))
      .join(',');
  return [
    column('Containers', 'Names of the containers of its pods.', (owner) => textsOf(owner, 'name')),
    column('Images', 'Images of the containers of its pods.', (owner) => textsOf(owner, 'image')),
  ];
}

/** Labels as `a=1,b=2`, in order; `<none>` without any (upstream `labels.FormatLabels`). */
export function describeLabels(labels: JsonMap): string {
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
