/** Which of the two modes, and what only the older one needs. */
export interface EvictionModeOptions {
  /** False for the older mode: a node's pods are deleted, not its taints left to send them away. */
  readonly taintBasedEvictions: boolean;
  /** Eviction mode: a node that is not Ready for longer loses its pods. */
  readonly podEvictionTimeoutMs: number;
}

export const defaultEvictionModeOptions: EvictionModeOptions = {
  taintBasedEvictions: true,
  podEvictionTimeoutMs: 300_000,
};

/**
 * What an operator may set, in our units. A running controller may be given others: whoever decides by them reads them at
 * each decision and keeps nothing of them. One decision is one turn, so it never sees half of a change.
 * The names and defaults are kube-controller-manager's (1.36).
 */
export interface ControllerOptions extends EvictionModeOptions {
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
  /** The same in a zone without any ready node while others have some; undefined is the full rate, as in the reference. */
  readonly fullDisruptionEvictionRate: number | undefined;
  /** Nodes a second and zone whose pods are marked NotReady when they fall silent. */
  readonly podMarkingRate: number;
  /** The longest time for which pods stay ready, and nodes untainted, when the way to the API server is at fault; 0: none. */
  readonly controlPlanePathFailureHoldMs: number;
  /** Nodes in one zone. */
  readonly largeClusterSizeThreshold: number;
  /** Share of unready nodes, from 0 to 1, at which a zone with more than two of them is partially disrupted. */
  readonly unhealthyZoneThreshold: number;
}

/** Which of our controllers run. The names are kube-controller-manager's. */
export interface ControllerSelection {
  /** Health, zones, taints, marking of pods. */
  readonly nodeLifecycle: boolean;
  /** Deletion of pods that do not tolerate NoExecute taints. */
  readonly taintEviction: boolean;
  readonly podGc: boolean;
}

export const defaultControllerSelection: ControllerSelection = {
  nodeLifecycle: true,
  taintEviction: true,
  podGc: false,
};

/** What runs of a selection: in eviction mode nobody acts on NoExecute taints. */
export function runningParts(
  selected: ControllerSelection,
  { taintBasedEvictions }: Pick<EvictionModeOptions, 'taintBasedEvictions'>,
): ControllerSelection {
  return { ...selected, taintEviction: selected.taintEviction && taintBasedEvictions };
}

export interface PodGcOptions {
  /** Finished pods that are kept in the cluster; 0 or less keeps all. */
  readonly terminatedPodGcThreshold: number;
}

export const defaultPodGcOptions: PodGcOptions = { terminatedPodGcThreshold: 12_500 };

export const defaultControllerOptions: ControllerOptions = {
  nodeMonitorPeriodMs: 5_000,
  nodeMonitorGracePeriodMs: 50_000,
  nodeStartupGracePeriodMs: 60_000,
  nodeEvictionRate: 0.1,
  secondaryNodeEvictionRate: 0.01,
  fullDisruptionEvictionRate: undefined,
  podMarkingRate: 10,
  controlPlanePathFailureHoldMs: 300_000,
  largeClusterSizeThreshold: 50,
  unhealthyZoneThreshold: 0.55,
  ...defaultEvictionModeOptions,
};
