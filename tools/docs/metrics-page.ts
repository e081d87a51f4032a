// docs/metrics.md: the metrics of each command that serves /metrics, from their definitions.
import { PromMeter } from '../../src/machinery/adapters/prom-meter.ts';
import { controllerProcessMetrics } from '../../src/cli/controller/metrics.ts';
import { fleetProcessMetrics } from '../../src/cli/simulation/hollow-nodes/fleet-process.ts';
import type { MetricDefinition } from '../../src/machinery/ports/meter.ts';

/** A metric of the client library. */
interface LibraryMetric {
  readonly name: string;
  readonly kind: string;
  readonly help: string;
}

export async function metricsPage(): Promise<string> {
  return [
    '# Metrics',
    '',
    'This page lists all metrics on `/metrics`. It is generated from the code by `npm run docs`. The name and labels of an ALPHA',
    'metric may change in any release, those of a STABLE metric do not. Durations are in seconds of a monotonic clock.',
    '',
    '## nlc controller',
    '',
    'Names that begin with `node_collector_`, `taint_eviction_controller_`, `pod_gc_collector_`, `rest_client_`, `workqueue_` and',
    '`leader_election_` are those of kube-controller-manager, so that dashboards keep working. Zone labels are `region/zone`, and',
    'empty for nodes without both. No label contains a node or pod name. Standbys expose the same metrics; those that only the',
    'leader has (zones, queues, assessments, holds) are 0 there, or have no series.',
    '',
    'The work queues are `node_lifecycle_controller` (nodes), `node_lifecycle_controller_pods` (pods to be marked NotReady),',
    '`noexec_taint_pod` (evictions) and `pod_eviction` (eviction mode). There is no `noexec_taint_node` queue: taint changes are',
    'processed immediately.',
    '',
    ...metricTable(controllerProcessMetrics),
    '',
    '## The process',
    '',
    'Both commands expose the process metrics of the client library, on Linux. `nodejs_eventloop_lag_seconds` is the duration of one',
    'event loop iteration at the previous scrape. `nodejs_eventloop_lag_min_seconds` to `..._p99_seconds` cover the time since the',
    'previous scrape, by any scraper. They include the sampling interval of 500 ms: 0.5 means no lag. Before the first sample they',
    'are NaN or arbitrary.',
    '',
    '| name | kind | meaning |',
    '| --- | --- | --- |',
    ...(await libraryMetrics()).map(({ name, kind, help }) => `| \`${name}\` | ${kind} | ${help} |`),
    '',
    '## nlc hollow-nodes',
    '',
    'The metrics of the fleet on its `--control-address`.',
    '',
    ...metricTable(ownOfFleet),
    '',
    'The fleet also exposes these metrics, with the meaning above, for all nodes together:',
    '',
    ...sorted(sharedByFleet).map(({ name }) => `- \`${name}\``),
    '',
  ].join('\n');
}

const ownOfFleet = fleetProcessMetrics.filter((metric) => !controllerProcessMetrics.includes(metric));
const sharedByFleet = fleetProcessMetrics.filter((metric) => controllerProcessMetrics.includes(metric));

/** The process metrics of the client library, by name. */
async function libraryMetrics(): Promise<readonly LibraryMetric[]> {
  const text = await new PromMeter({ processMetrics: true }).text();
  const found = [...text.matchAll(/^# HELP (\S+) (.+)\n# TYPE \S+ (\S+)$/gm)];
  return sorted(found.map(([, name = '', help = '', kind = '']) => ({ name, help, kind })));
}

function metricTable(metrics: readonly MetricDefinition[]): readonly string[] {
  return [
    '| name | kind | labels | stability | meaning |',
    '| --- | --- | --- | --- | --- |',
    ...sorted(metrics).map(metricRow),
  ];
}

function sorted<T extends { readonly name: string }>(metrics: readonly T[]): readonly T[] {
  return [...metrics].sort((a, b) => (a.name < b.name ? -1 : 1));
}

function metricRow({ name, kind, labels = [], stability, help, buckets }: MetricDefinition): string {
  const labelText = labels.length === 0 ? '–' : labels.map((label) => `\`${label}\``).join(', ');
  const bucketText = buckets === undefined ? '' : ` Buckets: ${buckets.join(', ')}.`;
  return `| \`${name}\` | ${kind} | ${labelText} | ${stability} | ${help}${bucketText} |`;
}
