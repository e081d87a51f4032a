// Checks whether the metrics and labels of a query are exposed: on `/metrics` of the controller, or by kube-state-metrics.
import { PromMeter } from '../../src/machinery/adapters/prom-meter.ts';
import { controllerProcessMetrics } from '../../src/cli/controller/metrics.ts';
import type { MetricDefinition } from '../../src/machinery/ports/meter.ts';
import type { NamedMetric } from './promql-names.ts';

/** Labels that Prometheus adds to every series, and `cluster`, which is common with several clusters. */
const targetLabels = ['cluster', 'namespace', 'job', 'instance'];

/** Metrics of kube-state-metrics that alerts use, with their labels. */
const ofKubeStateMetrics = new Map([['kube_lease_renew_time', ['lease']]]);

/** Names of series with their labels. Default metrics of the process accept any label. */
export async function exposedSeries(): Promise<ReadonlyMap<string, readonly string[] | 'any'>> {
  const page = await new PromMeter({ processMetrics: true }).text();
  const defaults = [...page.matchAll(/^# TYPE (\S+) (\S+)$/gm)];
  return new Map<string, readonly string[] | 'any'>([
    ...defaults.flatMap(([, name = '', kind = '']) =>
      seriesNames(name, kind).map((series) => [series, 'any'] as const),
    ),
    ...controllerProcessMetrics.flatMap(seriesOf),
    ...ofKubeStateMetrics,
  ]);
}

/** The problem of a metric reference: an unknown name or label. */
export function problemWith(
  { metric, labels }: NamedMetric,
  exposed: ReadonlyMap<string, readonly string[] | 'any'>,
): string | undefined {
  const known = exposed.get(metric);
  if (known === undefined) return `${metric} is not exposed`;
  if (known === 'any') return undefined;
  const unknown = labels.find((label) => ![...known, ...targetLabels].includes(label));
  return unknown === undefined ? undefined : `${metric} has no label ${unknown}`;
}

function seriesOf({ name, kind, labels = [] }: MetricDefinition): readonly (readonly [string, readonly string[]])[] {
  return seriesNames(name, kind).map((series) => [series, series.endsWith('_bucket') ? [...labels, 'le'] : labels]);
}

function seriesNames(name: string, kind: string): readonly string[] {
  return kind === 'histogram' || kind === 'summary' ? ['_bucket', '_sum', '_count'].map((end) => name + end) : [name];
}
