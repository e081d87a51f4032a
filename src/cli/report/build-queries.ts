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
  const increase = (metric: string, ...matchers: readonly string[]): string =>
    `increase(${metric}{${[...(selector === '' ? [] : [selector]), ...matchers].join(',')}}[${since}])`;
  const quantile = (share: number): string =>
    `histogram_quantile(${share}, sum by (le, stage, cause, policy) (${increase('node_lifecycle_fault_seconds_bucket')}))`;
  return {
    faults: `sum by (stage, cause, policy) (${increase('node_lifecycle_fault_seconds_count')})`,
    median: quantile(0.5),
    ninety: quantile(0.9),
    lostSeconds: `sum by (cause, policy) (${increase('node_lifecycle_fault_seconds_sum', 'stage="recovery"')})`,
    recovered: `sum by (boot) (${increase('node_lifecycle_recovered_nodes_total')})`,
    warnings: `sum by (policy, end) (${increase('node_lifecycle_overdue_total')})`,
    detections: `sum by (policy, end) (${increase('node_lifecycle_early_detections_total')})`,
    savedSeconds: `sum by (policy) (${increase('node_lifecycle_early_detection_saved_seconds_total')})`,
  };
}
