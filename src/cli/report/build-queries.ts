// What a report asks Prometheus for. Counters of all replicas are summed: only a leader counts.

interface Queries {
  /** By stage, cause and policy. */
  readonly faults: string;
  /** The time within which nine of ten faults reached a stage, by stage, cause and policy. */
  readonly ninety: string;
  readonly median: string;
  /** Sum of the seconds from last heartbeats to the ends of faults, by cause and policy. */
  readonly lostSeconds: string;
  /** By `boot`. */
  readonly recovered: string;
  /** By policy and end. */
  readonly warnings: string;
  readonly detections: string;
  readonly savedSeconds: string;
}

/** `selector`: matchers without braces; `since`: a duration of PromQL. */
export function buildQueries(selector: string, since: string): Queries {
  const series = (metric: string, ...matchers: readonly string[]): string =>
    `${metric}{${[...(selector === '' ? [] : [selector]), ...matchers].join(',')}}`;
  const sum = (by: string, metric: string, ...matchers: readonly string[]): string =>
    `sum by (${by}) (${buildGrowth(series(metric, ...matchers), since)})`;
  const quantile = (share: number): string =>
    `histogram_quantile(${share}, ${sum('le, stage, cause, policy', 'node_lifecycle_fault_seconds_bucket')})`;
  return {
    faults: sum('stage, cause, policy', 'node_lifecycle_fault_seconds_count'),
    median: quantile(0.5),
    ninety: quantile(0.9),
    lostSeconds: sum('cause, policy', 'node_lifecycle_fault_seconds_sum', 'stage="recovery"'),
    // Exposed at 0 by each process from its start on.
    recovered: `sum by (boot) (increase(${series('node_lifecycle_recovered_nodes_total')}[${since}]))`,
    warnings: sum('policy, end', 'node_lifecycle_overdue_total'),
    detections: sum('policy, end', 'node_lifecycle_early_detections_total'),
    savedSeconds: sum('policy', 'node_lifecycle_early_detection_saved_seconds_total'),
  };
}

/**
 * An expression, to be summed, for what was counted within the range: the increase of each series and, where it began within the
 * range, its first value, which `increase` does not see. A label `begun` keeps the two apart. A series of which Prometheus has no
 * data from the beginning of the range counts from its start.
 */
export function buildGrowth(series: string, range: string): string {
  const begun = `min_over_time(${series}[${range}]) unless ${series} offset ${range}`;
  return `increase(${series}[${range}]) or label_replace(${begun}, "begun", "1", "", "")`;
}
