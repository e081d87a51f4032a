/** What an operator may set, in our units. The names and defaults are kube-controller-manager's (1.36). */
export interface ControllerOptions {
  /** How often the safety net looks. Deadlines wake the monitor in between. */
  readonly nodeMonitorPeriodMs: number;
  /** Silence tolerated of a node that has posted its status. */
  readonly nodeMonitorGracePeriodMs: number;
  /** Silence tolerated of a node that never posted a status, from its creation. */
  readonly nodeStartupGracePeriodMs: number;
  /** NoExecute taints a second and zone, while the zone is normal. */
  readonly nodeEvictionRate: number;
  /** The same while a zone larger than the threshold below is partially disrupted; smaller zones stop. */
  readonly secondaryNodeEvictionRate: number;
  /** Nodes in one zone. */
  readonly largeClusterSizeThreshold: number;
  /** Share of unready nodes, from 0 to 1, at which a zone with more than two of them is partially disrupted. */
  readonly unhealthyZoneThreshold: number;
}

export const defaultControllerOptions: ControllerOptions = {
  nodeMonitorPeriodMs: 5_000,
  nodeMonitorGracePeriodMs: 50_000,
  nodeStartupGracePeriodMs: 60_000,
  nodeEvictionRate: 0.1,
  secondaryNodeEvictionRate: 0.01,
  largeClusterSizeThreshold: 50,
  unhealthyZoneThreshold: 0.55,
};
