// What a query finds on `/metrics` of the controller, and on which labels.
import { PromMeter } from '../../src/adapters/prom-meter.ts';
import { controllerProcessMetrics } from '../../src/cli/controller-metrics.ts';
import type { MetricDefinition } from '../../src/ports/meter.ts';
import type { NamedMetric } from './promql-names.ts';

/** What Prometheus itself puts on every series, and `cluster`, which whoever has several clusters does. */
const targetLabels = ['cluster', 'namespace', 'job', 'instance'];

/** Names of series, with their labels. Default metrics of the process stand there with any label. */
export async function exposedSeries(): Promise<ReadonlyMap<string, readonly string[] | 'any'>> {
  const page = await new PromMeter({ processMetrics: true }).text();
  const defaults = [...page.matchAll(/^# TYPE (\S+) (\S+)$/gm)];
  return new Map<string, readonly string[] | 'any'>([
    ...defaults.flatMap(([, name = '', kind = '']) =>
      seriesNames(name, kind).map((series) => [series, 'any'] as const),
    ),
    ...controllerProcessMetrics.flatMap(seriesOf),
  ]);
}

/** What is wrong with it: its name, or a label that it never has. */
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
