/** Horizontal pod autoscalers (upstream `printHorizontalPodAutoscaler`). */
import { ownValue } from '../../../machinery/api/json-map.ts';
import type { JsonMap } from '../../../machinery/api/json-map.ts';
import { canonicalQuantity } from '../../../machinery/api/quantity.ts';
import { isMap, mapAt, mapsAt, numberAt, textAt, valueAt } from '../select-field.ts';
import { ageColumn, column, countColumn, nameColumn, numberColumn, type PrintedColumn } from './describe-columns.ts';

/** So many metrics are printed; of the others, their number. */
const metricsMax = 2;

/** The field of a metric that contains it, by its type. */
const sources: ReadonlyMap<string, string> = new Map([
  ['External', 'external'],
  ['Pods', 'pods'],
  ['Object', 'object'],
  ['Resource', 'resource'],
  ['ContainerResource', 'containerResource'],
]);

export const autoscalerColumns: readonly PrintedColumn[] = [
  nameColumn,
  column('Reference', 'Kind and name of the object that is scaled.', (autoscaler) => {
    const path = ['spec', 'scaleTargetRef'] as const;
    return `${textAt(autoscaler, ...path, 'kind')}/${textAt(autoscaler, ...path, 'name')}`;
  }),
  column('Targets', 'Current and wanted values of the metrics.', describeMetrics),
  column('MinPods', 'Number of pods at least.', (autoscaler) => {
    const replicas = valueAt(autoscaler, 'spec', 'minReplicas');
    return typeof replicas === 'number' ? String(replicas) : '<unset>';
  }),
  numberColumn('MaxPods', 'Number of pods at most.', (autoscaler) => numberAt(autoscaler, 'spec', 'maxReplicas')),
  numberColumn('Replicas', 'Current number of pods.', (autoscaler) =>
    numberAt(autoscaler, 'status', 'currentReplicas'),
  ),
  ageColumn,
];

/** Of the subresource `scale` (upstream `printScale`). */
export const scaleColumns: readonly PrintedColumn[] = [
  { ...nameColumn, format: '' },
  countColumn('Desired', 'Number of pods that are wanted.', (scale) => numberAt(scale, 'spec', 'replicas')),
  countColumn('Available', 'Number of pods that exist.', (scale) => numberAt(scale, 'status', 'replicas')),
  ageColumn,
];

function describeMetrics(autoscaler: JsonMap): string {
  const metrics = mapsAt(autoscaler, 'spec', 'metrics');
  if (metrics.length === 0) return '<none>';
  const current = mapsAt(autoscaler, 'status', 'currentMetrics');
  const texts = metrics.map((metric, index) => describeMetric(metric, current[index]));
  const shown = texts.slice(0, metricsMax).join(', ');
  return texts.length > metricsMax ? `${shown} + ${texts.length - metricsMax} more...` : shown;
}

function describeMetric(metric: JsonMap, status: JsonMap | undefined): string {
  const field = sources.get(textAt(metric, 'type'));
  if (field === undefined) return '<unknown type>';
  const target = valueAt(metric, field, 'target');
  const reported = valueAt(status, field);
  const current = isMap(reported) ? mapAt(reported, 'current') : undefined;
  const byAverage = isText(valueAt(target, 'averageValue'));
  if (field === 'pods') return `${quantityAt(current, 'averageValue')}/${quantityAt(target, 'averageValue')}`;
  if (field === 'object' || field === 'external') return describeValue(current, target, byAverage);
  const name = textAt(metric, field, 'name');
  if (byAverage) return `${name}: ${quantityAt(current, 'averageValue')}/${quantityAt(target, 'averageValue')}`;
  return `${name}: ${percentAt(current) ?? '<unknown>'}/${percentAt(target) ?? '<auto>'}`;
}

/** Of metrics that have a value in total or per pod. A status without the average is not known yet. */
function describeValue(current: unknown, target: unknown, byAverage: boolean): string {
  if (!byAverage) return `${quantityAt(current, 'value')}/${quantityAt(target, 'value')}`;
  const average = isText(valueAt(current, 'averageValue')) ? quantityAt(current, 'averageValue') : '<unknown>';
  return `${average}/${quantityAt(target, 'averageValue')} (avg)`;
}

/** `<nil>` is what upstream prints for a reported metric without the value. */
function quantityAt(value: unknown, field: string): string {
  if (!isMap(value)) return '<unknown>';
  const text = ownValue(value, field);
  return isText(text) ? canonicalQuantity(text) : '<nil>';
}

function percentAt(value: unknown): string | undefined {
  const percent = valueAt(value, 'averageUtilization');
  return typeof percent === 'number' ? `${percent}%` : undefined;
}

function isText(value: unknown): value is string {
  return typeof value === 'string';
}
