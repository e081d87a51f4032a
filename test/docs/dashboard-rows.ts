// What the dashboard shows, row by row. In queries `{OURS}` stands for the chosen cluster and job, `{ZONED}` for these and
// the chosen zones; dashboard.ts makes Grafana's JSON of it.
//
// Only the leader judges, so only it has series of zones, lines and holds: `max` over the replicas is its value, and stays
// right for the moment in which an old leader's series are still there. Counters are summed: each replica counts its own.

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
const perSecond = (metric: string, by: string): string => `sum by (${by}) (rate(${metric}{OURS}[$__rate_interval]))`;
const quantile = (q: number, metric: string, by = ''): string =>
  `histogram_quantile(${q}, sum by (${by}le) (rate(${metric}_bucket{OURS}[$__rate_interval])))`;
const quantiles = (metric: string): readonly Query[] =>
  [0.5, 0.99].map((q) => ({ expr: quantile(q, metric), legend: `p${q * 100}` }));
const one = (expr: string, legend = ''): readonly Query[] => [{ expr, legend }];
const ofZone = (metric: string): readonly Query[] => one(`${leaders} (${metric}{ZONED})`, '{{zone}}');

export const dashboardRows: readonly DashboardRow[] = [
  {
    title: 'Now',
    panels: [
      {
        title: 'Leaders',
        about: 'One. None: nobody acts. Nothing at all: without leader election, as in shadow mode.',
        kind: 'stat',
        unit: 'short',
        redUpTo: 0,
        queries: one('sum(leader_election_master_status{OURS})'),
      },
      {
        title: 'Replicas',
        about: 'Processes that Prometheus sees.',
        kind: 'stat',
        unit: 'short',
        redUpTo: 0,
        queries: one('count(node_lifecycle_controller_build_info{OURS})'),
      },
      {
        title: 'Nodes',
        about: 'Those that count in the arithmetic of their zones.',
        kind: 'stat',
        unit: 'short',
        queries: one(`sum(${leaders} (node_collector_zone_size{ZONED}))`),
      },
      {
        title: 'Not ready',
        about: 'Of those that count: not Ready, or Unknown.',
        kind: 'stat',
        unit: 'short',
        redFrom: 1,
        queries: one(`sum(${leaders} (node_collector_unhealthy_nodes_in_zone{ZONED}))`),
      },
      {
        title: 'Zones stopped',
        about: 'No NoExecute taint is added there now.',
        kind: 'stat',
        unit: 'short',
        redFrom: 1,
        queries: one(`sum(${leaders} (node_lifecycle_zone_eviction_rate{ZONED}) == bool 0)`),
      },
      {
        title: 'Blind',
        about: '1 while verdicts are frozen.',
        kind: 'stat',
        unit: 'short',
        redFrom: 1,
        queries: one('max(node_lifecycle_blind{OURS})'),
      },
      {
        title: 'Held',
        about: 'Nodes on which an act is held back, for any reason.',
        kind: 'stat',
        unit: 'short',
        redFrom: 1,
        queries: one('sum(max by (cluster, job, reason) (node_lifecycle_held_nodes{OURS}))'),
      },
      {
        title: 'Evictions scheduled',
        about: 'Pods whose deletion is to come.',
        kind: 'stat',
        unit: 'short',
        queries: one('sum(max by (cluster, job) (node_lifecycle_evictions_scheduled{OURS}))'),
      },
    ],
  },
  {
    title: 'Verdicts and nodes',
    panels: [
      {
        title: 'Verdicts',
        about: 'What was said of nodes at which it changed.',
        unit: 'ops',
        queries: one(perSecond('node_lifecycle_verdicts_total', 'verdict'), '{{verdict}}'),
      },
      {
        title: 'Nodes not ready',
        about: 'Of those that count in their zone.',
        unit: 'short',
        queries: ofZone('node_collector_unhealthy_nodes_in_zone'),
      },
      {
        title: 'Fell silent, by what it was taken for',
        about: 'NodeFailure, ZoneFailure or ControlPlanePathFailure.',
        unit: 'ops',
        queries: one(perSecond('node_lifecycle_silent_nodes_total', 'outage'), '{{outage}}'),
      },
      {
        title: 'Came back from silence',
        about: 'same: the machine had never been down, so the verdict was wrong.',
        unit: 'ops',
        queries: one(perSecond('node_lifecycle_recovered_nodes_total', 'boot'), '{{boot}}'),
      },
      {
        title: 'From the last sign of life to the verdict',
        about: 'By default 50 s: the grace period.',
        unit: 's',
        queries: quantiles('node_lifecycle_detection_latency_seconds'),
      },
      {
        title: 'Decisions',
        about: 'All of them, by kind; the log has each with its reason.',
        unit: 'ops',
        queries: one(perSecond('node_lifecycle_decisions_total', 'decision'), '{{decision}}'),
      },
    ],
  },
  {
    title: 'Zones',
    panels: [
      {
        title: 'State',
        about: 'How bad each zone is.',
        kind: 'state-timeline',
        unit: 'short',
        queries: one(
          'max by (cluster, job, zone, state) (node_lifecycle_zone_state{ZONED}) == 1',
          '{{zone}} {{state}}',
        ),
      },
      {
        title: 'Health',
        about: 'Share of the counted nodes that are Ready.',
        unit: 'percent',
        queries: ofZone('node_collector_zone_health'),
      },
      { title: 'Size', about: 'Nodes that count.', unit: 'short', queries: ofZone('node_collector_zone_size') },
      {
        title: 'Eviction rate',
        about: 'NoExecute taints a second that the zone may receive; 0 while it is stopped.',
        unit: 'ops',
        queries: ofZone('node_lifecycle_zone_eviction_rate'),
      },
      {
        title: 'Tokens',
        about: 'In the limiter of the zone: a node whose turn has come is tainted at 1.',
        unit: 'short',
        queries: ofZone('node_lifecycle_zone_eviction_tokens'),
      },
    ],
  },
  {
    title: 'Lines',
    panels: [
      {
        title: 'Waiting for a NoExecute taint',
        about: 'Nodes, by zone.',
        unit: 'short',
        queries: ofZone('node_lifecycle_taint_queue_depth'),
      },
      {
        title: 'The longest wait for it',
        about: 'Time in which the zone is stopped counts.',
        unit: 's',
        queries: ofZone('node_lifecycle_taint_queue_oldest_seconds'),
      },
      {
        title: 'Work queues',
        about: 'Keys that are due and wait for a worker.',
        unit: 'short',
        queries: one('max by (cluster, job, name) (workqueue_depth{OURS})', '{{name}}'),
      },
      {
        title: 'Waiting for their pods to be marked NotReady',
        about: 'Nodes, by zone.',
        unit: 'short',
        queries: ofZone('node_lifecycle_marking_queue_depth'),
      },
      {
        title: 'The longest wait for that',
        about: 'Holds count.',
        unit: 's',
        queries: ofZone('node_lifecycle_marking_queue_oldest_seconds'),
      },
      {
        title: 'Time in work queues, p99',
        about: 'From being due to a worker.',
        unit: 's',
        queries: one(quantile(0.99, 'workqueue_queue_duration_seconds', 'name, '), '{{name}}'),
      },
    ],
  },
  {
    title: 'Evictions',
    panels: [
      {
        title: 'NoExecute taints',
        about: 'Added at the rate of the zone.',
        unit: 'ops',
        queries: one('sum by (zone) (rate(node_collector_evictions_total{ZONED}[$__rate_interval]))', '{{zone}}'),
      },
      {
        title: 'From the verdict to the taint',
        about: 'Waiting in line and holds count.',
        unit: 's',
        queries: quantiles('node_lifecycle_taint_latency_seconds'),
      },
      {
        title: 'Pods deleted',
        about: 'Because of a taint, and by the pod garbage collector.',
        unit: 'ops',
        queries: [
          { expr: perSecond('taint_eviction_controller_pod_deletions_total', 'job'), legend: 'evicted' },
          { expr: perSecond('pod_gc_collector_force_delete_pods_total', 'reason'), legend: 'collected: {{reason}}' },
        ],
      },
      {
        title: 'Evictions too late by',
        about: "From the end of a pod's patience to its deletion.",
        unit: 's',
        queries: quantiles('taint_eviction_controller_pod_deletion_duration_seconds'),
      },
      {
        title: 'Scheduled',
        about: 'Pods whose deletion is to come.',
        unit: 'short',
        queries: one('max by (cluster, job) (node_lifecycle_evictions_scheduled{OURS})', '{{job}}'),
      },
    ],
  },
  {
    title: 'Holds and blindness',
    panels: [
      {
        title: 'Held nodes',
        about: 'On which an act is held back now, by why.',
        unit: 'short',
        queries: one('max by (cluster, job, reason) (node_lifecycle_held_nodes{OURS})', '{{reason}}'),
      },
      {
        title: 'Blind',
        about: 'Why verdicts are frozen.',
        unit: 'short',
        queries: one('max by (cluster, job, reason) (node_lifecycle_blind{OURS})', '{{reason}}'),
      },
      {
        title: 'Time blind',
        about: 'Share of the time that is held against no node.',
        unit: 'percentunit',
        queries: one(
          'max by (cluster, job) (rate(node_lifecycle_blind_seconds_total{OURS}[$__rate_interval]))',
          '{{job}}',
        ),
      },
      {
        title: 'Outages',
        about: 'ObserverStale freezes verdicts, ControlPlanePathFailure the marking of pods and NoExecute taints.',
        unit: 'short',
        queries: one('max by (cluster, job, outage) (node_lifecycle_outage_hold{OURS})', '{{outage}}'),
      },
      {
        title: 'Probes of the API server',
        about: 'Asked only to know whether it answers.',
        unit: 'ops',
        queries: one(perSecond('node_lifecycle_sight_probes_total', 'result'), '{{result}}'),
      },
      {
        title: 'Canary',
        about: 'With --watch-canary: from a write of ours to its coming back on the stream.',
        unit: 's',
        queries: quantiles('watch_canary_latency_seconds'),
      },
    ],
  },
  {
    title: 'API client',
    panels: [
      {
        title: 'Requests',
        about: 'By code; <error> had no answer.',
        unit: 'reqps',
        queries: one(perSecond('rest_client_requests_total', 'code'), '{{code}}'),
      },
      {
        title: 'Latency, p99',
        about: 'Of watches: until their headers came.',
        unit: 's',
        queries: one(quantile(0.99, 'rest_client_request_duration_seconds', 'verb, '), '{{verb}}'),
      },
      {
        title: 'Waiting for our own rate limit, p99',
        about: 'At --kube-api-qps and --kube-api-burst.',
        unit: 's',
        queries: one(quantile(0.99, 'rest_client_rate_limiter_duration_seconds', 'verb, '), '{{verb}}'),
      },
      {
        title: 'Sent again',
        about: 'After the server said when, or after a read lost its connection.',
        unit: 'reqps',
        queries: one(perSecond('rest_client_request_retries_total', 'code, verb'), '{{verb}} {{code}}'),
      },
      {
        title: 'Connections opened',
        about: 'By what they are for.',
        unit: 'ops',
        queries: one(perSecond('rest_client_connections_opened_total', 'role'), '{{role}}'),
      },
      {
        title: 'Events not told',
        about: 'By why.',
        unit: 'ops',
        queries: one(perSecond('node_lifecycle_events_dropped_total', 'reason'), '{{reason}}'),
      },
    ],
  },
  {
    title: 'Informers',
    panels: [
      {
        title: 'Time since the stream brought anything',
        about: 'A quiet one brings a bookmark a minute.',
        unit: 's',
        queries: one(
          'max by (instance, resource) (informer_stream_staleness_seconds{OURS})',
          '{{instance}} {{resource}}',
        ),
      },
      {
        title: 'Objects',
        about: 'In the local copies; those of the replicas should agree.',
        unit: 'short',
        queries: one('max by (instance, resource) (informer_store_objects{OURS})', '{{instance}} {{resource}}'),
      },
      {
        title: 'Complete states read again',
        about: 'By cause.',
        unit: 'ops',
        queries: one(perSecond('reflector_relists_total', 'resource, cause'), '{{resource}} {{cause}}'),
      },
      {
        title: 'Watches that failed',
        about: 'Refused, or ended otherwise than by the server closing them in time.',
        unit: 'ops',
        queries: one(perSecond('reflector_watch_errors_total', 'resource, reason'), '{{resource}} {{reason}}'),
      },
      {
        title: 'Malformed objects',
        about: 'Each counted once by each replica.',
        unit: 'short',
        queries: one('max by (cluster, job, resource) (informer_malformed_objects_total{OURS})', '{{resource}}'),
      },
      {
        title: 'Time in listeners',
        about: 'Everything else waits meanwhile.',
        unit: 'percentunit',
        queries: one(perSecond('informer_listener_seconds_total', 'resource, listener'), '{{resource}} {{listener}}'),
      },
    ],
  },
  {
    title: 'Process and leader',
    panels: [
      {
        title: 'Who leads',
        about: '1 for the replica that holds the lease.',
        unit: 'short',
        queries: one('max by (instance, name) (leader_election_master_status{OURS})', '{{instance}} {{name}}'),
      },
      {
        title: 'Event loop lag, p99',
        about: 'How late the only thread gets to things. It is sampled every 0.1 s, so 0.1 is none.',
        unit: 's',
        queries: one('max by (instance) (nodejs_eventloop_lag_p99_seconds{OURS})', '{{instance}}'),
      },
      {
        title: 'CPU',
        about: 'Cores.',
        unit: 'short',
        queries: one(perSecond('process_cpu_seconds_total', 'instance'), '{{instance}}'),
      },
      {
        title: 'Memory',
        about: 'Resident, and what lives on the heap.',
        unit: 'bytes',
        queries: [
          { expr: 'max by (instance) (process_resident_memory_bytes{OURS})', legend: '{{instance}} resident' },
          { expr: 'max by (instance) (nodejs_heap_size_used_bytes{OURS})', legend: '{{instance}} heap' },
        ],
      },
      {
        title: 'Garbage collection',
        about: 'Share of the time.',
        unit: 'percentunit',
        queries: one(perSecond('nodejs_gc_duration_seconds_sum', 'instance, kind'), '{{instance}} {{kind}}'),
      },
      {
        title: 'Versions',
        about: 'Replicas by version.',
        unit: 'short',
        queries: one(
          'count by (version, node_version) (node_lifecycle_controller_build_info{OURS})',
          '{{version}} on Node.js {{node_version}}',
        ),
      },
    ],
  },
  {
    title: 'Shadow',
    panels: [
      {
        title: 'Episodes',
        about: 'What the shadow would have done, beside what was done. Only in shadow mode.',
        unit: 'ops',
        queries: one(perSecond('node_lifecycle_shadow_episodes_total', 'act, outcome'), '{{act}} {{outcome}}'),
      },
      {
        title: 'Apart by, p99',
        about: 'Where both acted: by how much one was ahead, and which.',
        unit: 's',
        queries: one(quantile(0.99, 'node_lifecycle_shadow_difference_seconds', 'act, first, '), '{{act}}: {{first}}'),
      },
      {
        title: 'Agreement within the time shown',
        about: 'Share of the episodes in which both acted at the same time.',
        unit: 'percentunit',
        queries: one(
          'sum by (act) (increase(node_lifecycle_shadow_episodes_total{OURS, outcome="agree"}[$__range])) / sum by (act) (increase(node_lifecycle_shadow_episodes_total{OURS}[$__range]))',
          '{{act}}',
        ),
      },
    ],
  },
];
