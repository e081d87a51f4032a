import type { NodePolicy } from './policy.ts';

/** The eviction mode, and options of the older one. */
export interface EvictionModeOptions {
  /** False for eviction mode: the pods of a node are deleted instead of evicted by NoExecute taints. */
  readonly taintBasedEvictions: boolean;
  /** Eviction mode: the pods of a node that is not Ready for longer are deleted. */
  readonly podEvictionTimeoutMs: number;
}

export const defaultEvictionModeOptions: EvictionModeOptions = {
  taintBasedEvictions: true,
  podEvictionTimeoutMs: 300_000,
};

/** Where policies come from: the config file, or NodeLifecyclePolicy objects of the API. */
export const policySources = ['file', 'crd'] as const;
export type PolicySource = (typeof policySources)[number];

/**
 * The options of the controller. They may change while it runs: each decision reads them and keeps none. One decision
 * is synchronous, so it never sees a partial change. The names and defaults are kube-controller-manager's (1.37).
 */
export interface ControllerOptions extends EvictionModeOptions {
  /** The longest time between two monitor passes. Deadlines trigger passes in between. */
  readonly nodeMonitorPeriodMs: number;
  /** Every node, queue entry and pending eviction is evaluated from current state at least this often. */
  readonly nodeMonitorResyncPeriodMs: number;
  /**
   * The longest time for which a node that looks silent is held because its lease cannot be read; Infinity: no limit.
   */
  readonly leaseConfirmationHoldMs: number;
  /** The longest pause of evaluation because a watch is stale while the API server answers; Infinity: no limit. */
  readonly staleWatchHoldMs: number;
  /** Grace period of a node that has posted its status. */
  readonly nodeMonitorGracePeriodMs: number;
  /** Grace period of a node that never posted a status, from its creation. */
  readonly nodeStartupGracePeriodMs: number;
  /** NoExecute taints per second and zone, while the zone is normal. */
  readonly nodeEvictionRate: number;
  /** Rate of a zone larger than the threshold below while it is partially disrupted; smaller zones stop. */
  readonly secondaryNodeEvictionRate: number;
  /**
   * Rate of a zone without a ready node while other zones have some; undefined: the full rate, as in
   * kube-controller-manager.
   */
  readonly fullDisruptionEvictionRate: number | undefined;
  /** Nodes per second and zone whose pods are marked NotReady when they become silent. */
  readonly podMarkingRate: number;
  /**
   * The longest time for which the pods of silent nodes stay ready, and the nodes untainted, when the path to the API
   * server is at fault; 0: none; negative: no limit; undefined: {@link controlPlanePathFailureHoldDefaults}.
   */
  readonly controlPlanePathFailureHoldMs: number | undefined;
  /** Nodes in one zone. */
  readonly largeClusterSizeThreshold: number;
  /** Share of unready nodes, from 0 to 1, at which a zone with more than two of them is partially disrupted. */
  readonly unhealthyZoneThreshold: number;
  /**
   * How long after its deletion was due a pod is deleted that the Eviction API does not let go, for policies with
   * `evictReachable` that do not set it.
   */
  readonly evictReachableTimeoutMs: number;
  /** Settings and modes for the nodes that their selectors match; replaced as a whole when any of them changes. */
  readonly policies: readonly NodePolicy[];
  readonly policySource: PolicySource;
  /** Holds, for all nodes, what makes a node or its pods worse. Recovery goes on. */
  readonly paused: boolean;
}

/** Which controllers run. The names are kube-controller-manager's. */
export interface ControllerSelection {
  /** Health, zones, taints, marking of pods. */
  readonly nodeLifecycle: boolean;
  /** Deletion of pods that do not tolerate NoExecute taints. */
  readonly taintEviction: boolean;
  readonly podGc: boolean;
}

/** The controllers by their names in `--controllers`. */
export const controllerNames = {
  nodeLifecycle: 'node-lifecycle-controller',
  taintEviction: 'taint-eviction-controller',
  podGc: 'pod-garbage-collector-controller',
} as const satisfies Readonly<Record<keyof ControllerSelection, string>>;

export type ControllerName = (typeof controllerNames)[keyof ControllerSelection];

/** The effective selection: in eviction mode the taint eviction controller does not run. */
export function runningParts(
  selected: ControllerSelection,
  { taintBasedEvictions }: Pick<EvictionModeOptions, 'taintBasedEvictions'>,
): ControllerSelection {
  return { ...selected, taintEviction: selected.taintEviction && taintBasedEvictions };
}

export interface PodGcOptions {
  /** Number of terminated pods that are kept in the cluster; 0 or less keeps all. */
  readonly terminatedPodGcThreshold: number;
  /** How many of them are kept on each node; absent, undefined or 0: all. */
  readonly terminatedPodGcPerNode?: number | undefined;
  /** For how long they are kept after they completed; absent or undefined: for ever. */
  readonly terminatedPodGcAgeMs?: number | undefined;
}

export const defaultPodGcOptions: PodGcOptions = { terminatedPodGcThreshold: 12_500 };

/** Defaults of the hold: in a cluster of one zone the shorter one, unless all control-plane nodes are silent too. */
export const controlPlanePathFailureHoldDefaults = { longMs: 300_000, oneZoneMs: 60_000 } as const;

export const defaultControllerOptions: ControllerOptions = {
  nodeMonitorPeriodMs: 5_000,
  nodeMonitorResyncPeriodMs: 60_000,
  leaseConfirmationHoldMs: 60_000,
  staleWatchHoldMs: 60_000,
  nodeMonitorGracePeriodMs: 50_000,
  nodeStartupGracePeriodMs: 60_000,
  nodeEvictionRate: 0.1,
  secondaryNodeEvictionRate: 0.01,
  fullDisruptionEvictionRate: undefined,
  podMarkingRate: 10,
  controlPlanePathFailureHoldMs: undefined,
  largeClusterSizeThreshold: 50,
  unhealthyZoneThreshold: 0.55,
  evictReachableTimeoutMs: 600_000,
  policies: [],
  policySource: 'file',
  paused: false,
  ...defaultEvictionModeOptions,
};
