// The pages made from the tables in the code: the references of docs/, and files of the chart. `npm run docs` writes them; a test compares them.
import { controllerProcessMetrics } from '../../src/cli/controller-process.ts';
import { describeFlags } from '../../src/cli/flag-reference.ts';
import type { MetricDefinition } from '../../src/ports/meter.ts';
import { chartPages } from './chart-pages.ts';

export interface Page {
  readonly path: string;
  readonly text: string;
}

export async function referencePages(): Promise<readonly Page[]> {
  return [
    { path: 'docs/flags.md', text: await describeFlags() },
    { path: 'docs/metrics.md', text: metricsPage(controllerProcessMetrics) },
    ...chartPages(),
  ];
}

function metricsPage(metrics: readonly MetricDefinition[]): string {
  const rows = [...metrics].sort((a, b) => (a.name < b.name ? -1 : 1)).map(metricRow);
  return [
    '# Metrics',
    '',
    'What `nlc controller` exposes on `/metrics`, made from the code by `npm run docs`. Names that begin with `node_collector_`,',
    '`taint_eviction_controller_`, `rest_client_`, `workqueue_` and `leader_election_` are those of kube-controller-manager, so',
    'that dashboards go on working. Zone labels read `region/zone`. Beside these stand the usual `process_*` and `nodejs_*` metrics.',
    '',
    '| name | kind | labels | stability | meaning |',
    '| --- | --- | --- | --- | --- |',
    ...rows,
    '',
  ].join('\n');
}

function metricRow({ name, kind, labels = [], stability, help, buckets }: MetricDefinition): string {
  const labelText = labels.length === 0 ? '–' : labels.map((label) => `\`${label}\``).join(', ');
  const bucketText = buckets === undefined ? '' : ` Buckets: ${buckets.join(', ')}.`;
  return `| \`${name}\` | ${kind} | ${labelText} | ${stability} | ${help}${bucketText} |`;
}
