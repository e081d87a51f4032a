export const traceApiVersion = 'nodelifecycle/v1alpha1';
export const traceKind = 'ClusterTrace';

/** The first line of a trace. */
export interface TraceHeader {
  readonly apiVersion: typeof traceApiVersion;
  readonly kind: typeof traceKind;
  /** RFC 3339. */
  readonly startedAt: string;
  /** Node names are replaced by hashes. */
  readonly hashedNames: boolean;
  /** Only heartbeats after a longer time than this are recorded, in seconds. */
  readonly gapSeconds: number;
  /** Keys of the node labels that are recorded; absent: none. */
  readonly labels?: readonly string[];
}

/** Number of pods by how long they tolerate `node.kubernetes.io/unreachable`: seconds, `forever` or `none`. */
export type PodCounts = Readonly<Record<string, number>>;

/** Every other line: what changed on one node. A field that is absent did not change. Times are seconds since the start. */
export interface TraceRecord {
  readonly t: number;
  readonly node: string;
  readonly zone?: string;
  /** Recorded labels that the node has, all of them. */
  readonly labels?: Readonly<Record<string, string>>;
  /** Status of the Ready condition. */
  readonly ready?: string;
  /** `key:effect`. */
  readonly taints?: readonly string[];
  readonly pods?: PodCounts;
  /** A heartbeat arrived, this long after the one before. */
  readonly gap?: number;
  /** The gap has not ended at the end of the recording. */
  readonly open?: true;
  /** Its machine has started again: it reports another boot ID. */
  readonly rebooted?: true;
  /** The node was deleted. */
  readonly gone?: true;
}

/** The last line. */
export interface TraceEnd {
  readonly t: number;
  readonly end: 'stopped' | 'size' | 'time';
}

export interface ClusterTrace {
  readonly header: TraceHeader;
  readonly records: readonly TraceRecord[];
  readonly end: TraceEnd | undefined;
}
