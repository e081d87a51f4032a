/** One episode of one node: from a fault until it is ready again. Times are virtual milliseconds since the beginning of the scenario. */
export interface NodeOutcome {
  readonly node: string;
  readonly zone: string;
  /** Begin of the node's last fault before it was not ready. */
  faultAtMs?: number;
  /** End of the node's faults. */
  faultEndMs?: number;
  /** True if the machine failed, so that its pods did not run any more. */
  machineFailed: boolean;
  /** The controller wrote Ready=Unknown, or the kubelet Ready=False. */
  notReadyAtMs?: number;
  noScheduleAtMs?: number;
  noExecuteAtMs?: number;
  firstDeletionAtMs?: number;
  lastDeletionAtMs?: number;
  podsDeleted: number;
  /** Ready again. */
  readyAtMs?: number;
  /** Without a taint of the controller again. */
  cleanAtMs?: number;
  /** True if the node was marked Unknown although nothing was wrong with it. */
  isFalse: boolean;
}

/** Counts in one interval. */
export interface Interval {
  readonly atMs: number;
  /** Nodes that are not ready, by zone, at its end. */
  readonly notReady: Record<string, number>;
  noExecute: number;
  deletions: number;
  requests: number;
  writes: number;
}

/** A change of the disruption state or the eviction rate of a zone. */
export interface ZoneState {
  readonly atMs: number;
  readonly zone: string;
  readonly state: string;
  readonly nodesPerSecond: number;
}

export interface ScenarioResult {
  readonly name: string;
  readonly durationMs: number;
  readonly nodes: number;
  readonly pods: number;
  /** Zones of the nodes; empty if no node has one. */
  readonly zones: readonly string[];
  /** Settings that differ from the defaults. */
  readonly settings: readonly string[];
  /** Episodes in the order in which they began. */
  readonly outcomes: readonly NodeOutcome[];
  readonly zoneStates: readonly ZoneState[];
  readonly intervalMs: number;
  readonly intervals: readonly Interval[];
  /** Requests of the controller, by `verb resource`. */
  readonly requests: Readonly<Record<string, number>>;
  /** Nodes marked although nothing was wrong with them. */
  readonly falseAssessments: number;
  /** Pods deleted from nodes whose machine did not fail and which were ready again at the end. */
  readonly podsMovedNeedlessly: number;
  readonly podsDeleted: number;
  /** The most pods that were deleted within any 60 s. */
  readonly podsDeletedWithinMinuteMax: number;
  /** Recoveries of flapping nodes after which the node was kept from new pods. */
  readonly flappingKept: number;
}
