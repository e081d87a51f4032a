// Rows and panels of the dashboard. In queries `{SELECTED}` stands for the selected cluster and job, `{ZONED}` for these
// and the selected zones; dashboard.ts generates Grafana's JSON from it.
//
// Only the leader evaluates, so only it has series of zones, queues and holds: `max` over the replicas is its value, also
// while series of a former leader still exist. Counters are summed: each replica counts its own.

import { buildGrowth } from '../../src/cli/report/build-queries.ts';

export interface Query {
  readonly expr: string;
  readonly legend: string;
}

export interface Panel {
  readonly title: string;
  readonly about: string;
  /** Of Grafana's names for units. */
  readonly unit: string;
  readonly queries: readonly Query[];
  readonly kind?: 'stat' | 'state-timeline';
  /** The value from which a single figure is shown in red. */
  readonly redFrom?: number;
  /** The value up to which a single figure is shown in red. */
  readonly redUpTo?: number;
}

export interface DashboardRow {
  readonly title: string;
  readonly panels: readonly Panel[];
}

const leaders = 'max by (cluster, job, zone)';
const perSecond = (metric: string, by: string): string =>
  `sum by (${by}) (rate(${metric}{SELECTED}[$__rate_interval]))`;
const quantile = (q: number, metric: string, by = ''): string =>
  `histogram_quantile(${q}, sum by (${by}le) (rate(${metric}_bucket{SELECTED}[$__rate_interval])))`;
/** What was counted within a range, with the first counts of new series. */
const growth = (by: string, metric: string, { matchers = '', range = '30d' } = {}): string =>
  `sum by (${by}) (${buildGrowth(`${metric}{SELECTED${matchers}}`, range)})`;
const quantiles = (metric: string): readonly Query[] =>
  [0.5, 0.99].map((q) => ({ expr: quantile(q, metric), legend: `p${q * 100}` }));
const one = (expr: string, legend = ''): readonly Query[] => [{ expr, legend }];
const ofZone = (metric: string): readonly Query[] => one(`${leaders} (${metric}{ZONED})`, '{{zone}}');

type PanelExtras = Pick<Panel, 'kind' | 'redFrom' | 'redUpTo'>;
type PanelMaker = (title: string, about: string, queries: readonly Query[], extras?: PanelExtras) => Panel;

const row = (title: string, panels: readonly Panel[]): DashboardRow => ({ title, panels });
const panelIn =
  (unit: string): PanelMaker =>
  (title, about, queries, extras = {}) => ({ title, about, unit, queries, ...extras });
const short = panelIn('short');
const ops = panelIn('ops');
const seconds = panelIn('s');
const percent = panelIn('percent');
const share = panelIn('percentunit');
const requests = panelIn('reqps');
const bytes = panelIn('bytes');
/** A single figure. */
const stat = (title: string, about: string, expr: string, extras: PanelExtras = {}): Panel =>
  short(title, about, one(expr), { kind: 'stat', ...extras });

export const dashboardRows: readonly DashboardRow[] = [
  row('Now', [
    stat(
      'Leaders',
      'Expected: 1. 0: no replica acts. No data: leader election is disabled, as in shadow mode.',
      'sum(leader_election_master_status{SELECTED})',
      { redUpTo: 0 },
    ),
    stat('Replicas', 'Processes that Prometheus scrapes.', 'count(node_lifecycle_controller_build_info{SELECTED})', {
      redUpTo: 0,
    }),
    stat(
      'Nodes',
      'Nodes that count for the disruption state of their zones.',
      `sum(${leaders} (node_collector_zone_size{ZONED}))`,
    ),
    stat(
      'Not ready',
      'Counted nodes that are not Ready or Unknown.',
      `sum(${leaders} (node_collector_unhealthy_nodes_in_zone{ZONED}))`,
      { redFrom: 1 },
    ),
    stat(
      'Zones stopped',
      'Zones in which no NoExecute taint is added.',
      `sum(${leaders} (node_lifecycle_zone_eviction_rate{ZONED}) == bool 0)`,
      { redFrom: 1 },
    ),
    stat(
      'Evaluation paused',
      '1 while node health evaluation is paused because watch streams are stale.',
      'max(node_lifecycle_stale{SELECTED})',
      { redFrom: 1 },
    ),
    stat(
      'Held',
      'Nodes for which an action is held, for any reason.',
      'sum(max by (cluster, job, reason) (node_lifecycle_held_nodes{SELECTED}))',
      { redFrom: 1 },
    ),
    stat(
      'Evictions scheduled',
      'Pods whose deletion is scheduled.',
      'sum(max by (cluster, job) (node_lifecycle_evictions_scheduled{SELECTED}))',
    ),
  ]),
  row('Node health', [
    ops(
      'Assessments',
      'Changes of the assessed health of nodes, by assessment.',
      one(perSecond('node_lifecycle_assessments_total', 'assessment'), '{{assessment}}'),
    ),
    short('Nodes not ready', 'Counted nodes, by zone.', ofZone('node_collector_unhealthy_nodes_in_zone')),
    ops(
      'Nodes that became silent, by class of outage',
      'NodeFailure, ZoneFailure or ControlPlanePathFailure.',
      one(perSecond('node_lifecycle_silent_nodes_total', 'outage'), '{{outage}}'),
    ),
    ops(
      'Recovered nodes, by boot ID',
      'same: the machine did not restart, so the assessment was wrong.',
      one(perSecond('node_lifecycle_recovered_nodes_total', 'boot'), '{{boot}}'),
    ),
    seconds(
      'Detection latency',
      'From the last heartbeat to the assessment; by default 50 s, the grace period.',
      quantiles('node_lifecycle_detection_latency_seconds'),
    ),
    ops(
      'Decisions',
      'All decisions by kind; the log has each with its reason.',
      one(perSecond('node_lifecycle_decisions_total', 'decision'), '{{decision}}'),
    ),
  ]),
  row('From fault to recovery', [
    seconds(
      'Fault to step, 90 % within',
      'From the last heartbeat of a node to Unknown, to the first and last eviction, to a Ready replacement of an evicted pod, to the recovery.',
      one(
        `histogram_quantile(0.9, ${growth('stage, le', 'node_lifecycle_fault_seconds_bucket', { range: '$__rate_interval' })})`,
        '{{stage}}',
      ),
    ),
    share(
      'Replaced within 7 minutes',
      'Share of evicted pods whose replacement was Ready within 420 s of the last heartbeat: with default settings 350 s pass before the first eviction.',
      one(
        `${growth('cause', 'node_lifecycle_fault_seconds_bucket', { matchers: ', stage="replacement", le="420"' })} / ${growth('cause', 'node_lifecycle_fault_seconds_count', { matchers: ', stage="replacement"' })}`,
        '{{cause}}',
      ),
    ),
    share(
      'Machines that had not failed',
      'Share of recovered nodes whose machine had not restarted: their pods probably kept running.',
      one(
        'sum (increase(node_lifecycle_recovered_nodes_total{SELECTED, boot="same"}[30d])) / sum (increase(node_lifecycle_recovered_nodes_total{SELECTED}[30d]))',
      ),
    ),
    short(
      'Early warnings',
      'Overdue nodes now, and how warnings ended within 30 days: silent was true, heartbeat was not.',
      [
        { expr: 'sum by (policy) (node_lifecycle_overdue_nodes{SELECTED})', legend: 'overdue: {{policy}}' },
        { expr: growth('end', 'node_lifecycle_overdue_total'), legend: '{{end}}' },
      ],
    ),
    short(
      'Early detections',
      'Nodes that were Unknown by probes before their grace period, within 30 days: confirmed was right, heartbeat was not; and the seconds saved.',
      [
        { expr: growth('end', 'node_lifecycle_early_detections_total'), legend: '{{end}}' },
        {
          expr: growth('', 'node_lifecycle_early_detection_saved_seconds_total'),
          legend: 'seconds saved',
        },
      ],
    ),
  ]),
  row('Zones', [
    short(
      'State',
      'Disruption state of each zone.',
      one('max by (cluster, job, zone, state) (node_lifecycle_zone_state{ZONED}) == 1', '{{zone}} {{state}}'),
      { kind: 'state-timeline' },
    ),
    percent('Health', 'Share of the counted nodes that are Ready.', ofZone('node_collector_zone_health')),
    short('Size', 'Counted nodes.', ofZone('node_collector_zone_size')),
    ops(
      'Eviction rate',
      'NoExecute taints per second that the zone may receive; 0 while evictions are stopped.',
      ofZone('node_lifecycle_zone_eviction_rate'),
    ),
    short(
      'Tokens',
      'Tokens in the rate limiter of the zone: the first node in the queue is tainted at 1.',
      ofZone('node_lifecycle_zone_eviction_tokens'),
    ),
  ]),
  row('Queues', [
    short('NoExecute taint queue', 'Nodes, by zone.', ofZone('node_lifecycle_taint_queue_depth')),
    seconds(
      'NoExecute taint queue, longest wait',
      'Includes time during which the zone is stopped.',
      ofZone('node_lifecycle_taint_queue_oldest_seconds'),
    ),
    short(
      'Work queues',
      'Keys that are due and wait for a worker.',
      one('max by (cluster, job, name) (workqueue_depth{SELECTED})', '{{name}}'),
    ),
    short('Pod marking queue', 'Nodes, by zone.', ofZone('node_lifecycle_marking_queue_depth')),
    seconds(
      'Pod marking queue, longest wait',
      'Includes holds.',
      ofZone('node_lifecycle_marking_queue_oldest_seconds'),
    ),
    seconds(
      'Time in work queues, p99',
      'From when a key is due to the start of a worker.',
      one(quantile(0.99, 'workqueue_queue_duration_seconds', 'name, '), '{{name}}'),
    ),
  ]),
  row('Evictions', [
    ops(
      'NoExecute taints',
      'Added at the rate of the zone.',
      one('sum by (zone) (rate(node_collector_evictions_total{ZONED}[$__rate_interval]))', '{{zone}}'),
    ),
    seconds(
      'Taint latency',
      'From the assessment to the taint; includes time in the queue and holds.',
      quantiles('node_lifecycle_taint_latency_seconds'),
    ),
    ops('Pods deleted', 'Because of a taint, and by the pod garbage collector.', [
      { expr: perSecond('taint_eviction_controller_pod_deletions_total', 'job'), legend: 'evicted' },
      { expr: perSecond('pod_gc_collector_force_delete_pods_total', 'reason'), legend: 'collected: {{reason}}' },
    ]),
    seconds(
      'Delay of evictions',
      'From when a pod is due for eviction to its deletion.',
      quantiles('taint_eviction_controller_pod_deletion_duration_seconds'),
    ),
    short(
      'Scheduled',
      'Pods whose deletion is scheduled.',
      one('max by (cluster, job) (node_lifecycle_evictions_scheduled{SELECTED})', '{{job}}'),
    ),
  ]),
  row('Holds and stale watches', [
    short(
      'Held nodes',
      'Nodes for which an action is held, by reason.',
      one('max by (cluster, job, reason) (node_lifecycle_held_nodes{SELECTED})', '{{reason}}'),
    ),
    short(
      'Evaluation paused',
      'Why node health evaluation is paused.',
      one('max by (cluster, job, reason) (node_lifecycle_stale{SELECTED})', '{{reason}}'),
    ),
    share(
      'Stale time',
      'Share of the time that is not counted against any node.',
      one('max by (cluster, job) (rate(node_lifecycle_stale_seconds_total{SELECTED}[$__rate_interval]))', '{{job}}'),
    ),
    short(
      'Outages',
      'ObserverStale pauses node health evaluation, ControlPlanePathFailure the marking of pods and NoExecute taints.',
      one('max by (cluster, job, outage) (node_lifecycle_outage_hold{SELECTED})', '{{outage}}'),
    ),
    ops(
      'Probes of the API server',
      'Requests that only check whether the API server answers.',
      one(perSecond('node_lifecycle_freshness_probes_total', 'result'), '{{result}}'),
    ),
    seconds(
      'Canary',
      'With --watch-canary: from the write of the canary lease to its watch event.',
      quantiles('watch_canary_latency_seconds'),
    ),
  ]),
  row('API client', [
    requests(
      'Requests',
      'By code; <error>: no response.',
      one(perSecond('rest_client_requests_total', 'code'), '{{code}}'),
    ),
    seconds(
      'Latency, p99',
      'For watches: until the response headers.',
      one(quantile(0.99, 'rest_client_request_duration_seconds', 'verb, '), '{{verb}}'),
    ),
    seconds(
      'Client-side rate limiting, p99',
      'Wait for --kube-api-qps and --kube-api-burst.',
      one(quantile(0.99, 'rest_client_rate_limiter_duration_seconds', 'verb, '), '{{verb}}'),
    ),
    requests(
      'Retries',
      'After a Retry-After header, or after a read lost its connection.',
      one(perSecond('rest_client_request_retries_total', 'code, verb'), '{{verb}} {{code}}'),
    ),
    ops('Connections opened', 'By role.', one(perSecond('rest_client_connections_opened_total', 'role'), '{{role}}')),
    ops('Dropped Events', 'By reason.', one(perSecond('node_lifecycle_events_dropped_total', 'reason'), '{{reason}}')),
  ]),
  row('Informers', [
    seconds(
      'Watch staleness',
      'Time since the last watch event; an idle watch delivers a bookmark every minute.',
      one('max by (instance, resource) (informer_stream_staleness_seconds{SELECTED})', '{{instance}} {{resource}}'),
    ),
    short(
      'Objects',
      'Objects in the caches; replicas should agree.',
      one('max by (instance, resource) (informer_store_objects{SELECTED})', '{{instance}} {{resource}}'),
    ),
    ops('Relists', 'By cause.', one(perSecond('reflector_relists_total', 'resource, cause'), '{{resource}} {{cause}}')),
    ops(
      'Watch errors',
      'Rejected, or ended other than by the timeout of the server.',
      one(perSecond('reflector_watch_errors_total', 'resource, reason'), '{{resource}} {{reason}}'),
    ),
    short(
      'Malformed objects',
      'Each object counts once per replica.',
      one('max by (cluster, job, resource) (informer_malformed_objects_total{SELECTED})', '{{resource}}'),
    ),
    share(
      'Time in event handlers',
      'The event loop is blocked meanwhile.',
      one(perSecond('informer_listener_seconds_total', 'resource, listener'), '{{resource}} {{listener}}'),
    ),
  ]),
  row('Process and leader election', [
    short(
      'Leader',
      '1 for the replica that holds the lease.',
      one('max by (instance, name) (leader_election_master_status{SELECTED})', '{{instance}} {{name}}'),
    ),
    seconds(
      'Event loop lag, p99',
      'Sampled every 0.5 s, so 0.5 means no lag.',
      one('max by (instance) (nodejs_eventloop_lag_p99_seconds{SELECTED})', '{{instance}}'),
    ),
    short('CPU', 'Cores.', one(perSecond('process_cpu_seconds_total', 'instance'), '{{instance}}')),
    bytes('Memory', 'Resident memory and used heap.', [
      { expr: 'max by (instance) (process_resident_memory_bytes{SELECTED})', legend: '{{instance}} resident' },
      { expr: 'max by (instance) (nodejs_heap_size_used_bytes{SELECTED})', legend: '{{instance}} heap' },
    ]),
    share(
      'Garbage collection',
      'Share of the time.',
      one(perSecond('nodejs_gc_duration_seconds_sum', 'instance, kind'), '{{instance}} {{kind}}'),
    ),
    short(
      'Versions',
      'Replicas by version.',
      one(
        'count by (version, node_version) (node_lifecycle_controller_build_info{SELECTED})',
        '{{version}} on Node.js {{node_version}}',
      ),
    ),
  ]),
  row('Shadow', [
    ops(
      'Episodes',
      'Actions of the shadow compared with those of the cluster. Only in shadow mode.',
      one(perSecond('node_lifecycle_shadow_episodes_total', 'act, outcome'), '{{act}} {{outcome}}'),
    ),
    seconds(
      'Time difference, p99',
      'Where both acted: time between the two actions, by which was first.',
      one(quantile(0.99, 'node_lifecycle_shadow_difference_seconds', 'act, first, '), '{{act}}: {{first}}'),
    ),
    share(
      'Agreement in the selected time range',
      'Share of the episodes in which both acted at the same time.',
      one(
        'sum by (act) (increase(node_lifecycle_shadow_episodes_total{SELECTED, outcome="agree"}[$__range])) / sum by (act) (increase(node_lifecycle_shadow_episodes_total{SELECTED}[$__range]))',
        '{{act}}',
      ),
    ),
  ]),
];
