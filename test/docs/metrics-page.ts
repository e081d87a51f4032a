// docs/metrics.md: what each command that serves /metrics exposes there, from the definitions that it counts by.
import { PromMeter } from '../../src/adapters/prom-meter.ts';
import { controllerProcessMetrics } from '../../src/cli/controller-metrics.ts';
import { fleetProcessMetrics } from '../../src/cli/hollow-nodes/fleet-process.ts';
import type { MetricDefinition } from '../../src/ports/meter.ts';

/** A metric of the library by which we count. */
interface LibraryMetric {
  readonly name: string;
  readonly kind: string;
  readonly help: string;
}

export async function metricsPage(): Promise<string> {
  return [
    '# Metrics',
    '',
    'What is exposed on `/metrics`, made from the code by `npm run docs`. A metric that is ALPHA may change its name or labels in',
    'any release, one that is STABLE in none. Durations are in seconds by a clock that no time server moves.',
    '',
    '## nlc controller',
    '',
    'Names that begin with `node_collector_`, `taint_eviction_controller_`, `pod_gc_collector_`, `rest_client_`, `workqueue_` and',
    '`leader_election_` are those of kube-controller-manager, so that dashboards go on working. Zone labels read `region/zone`, and',
    'are empty for nodes without either. No label names a node or a pod. Replicas that do not lead expose the same; what only the',
    'leader knows (zones, lines, verdicts, holds) is 0 there, or has no series.',
    '',
    'The work queues are `node_lifecycle_controller` (nodes), `node_lifecycle_controller_pods` (pods to be marked NotReady),',
    '`noexec_taint_pod` (evictions) and `pod_eviction` (eviction mode). What kube-controller-manager puts into `noexec_taint_node`',
    'is done here at once.',
    '',
    ...metricTable(controllerProcessMetrics),
    '',
    '## The process',
    '',
    'Both commands expose what the library by which they count tells of any process, on Linux. `nodejs_eventloop_lag_seconds` is how',
    'long one turn of the event loop took at the read before. The others of that name, `_min_` to `_p99_`, are of all the time since',
    'the read before, so that two who read take from each other. A sample is taken every 100 ms, and that time is in them: 0.1 is',
    'a loop that nothing keeps waiting. Before the first sample they are NaN or absurd.',
    '',
    '| name | kind | meaning |',
    '| --- | --- | --- |',
    ...(await libraryMetrics()).map(({ name, kind, help }) => `| \`${name}\` | ${kind} | ${help} |`),
    '',
    '## nlc hollow-nodes',
    '',
    'What the fleet exposes on its control address, where it is told to have one.',
    '',
    ...metricTable(ownOfFleet),
    '',
    'Beside these stand, with the meaning that they have above and for the fleet as a whole:',
    '',
    ...sorted(sharedByFleet).map(({ name }) => `- \`${name}\``),
    '',
  ].join('\n');
}

const ownOfFleet = fleetProcessMetrics.filter((metric) => !controllerProcessMetrics.includes(metric));
const sharedByFleet = fleetProcessMetrics.filter((metric) => controllerProcessMetrics.includes(metric));

/** What the library adds to every process, by name. */
export async function libraryMetrics(): Promise<readonly LibraryMetric[]> {
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
