// The wire protocol of the dashboard: types and the states of a node, for the page and for the servers of it. Times are RFC 3339.
import type { NodeState } from '../controller/report/classify-node-state.ts';

export type { NodeState } from '../controller/report/classify-node-state.ts';

/** The states of a node, in the order in which they are listed. */
export const nodeStates = [
  'ready',
  'not-ready',
  'suspect',
  'unreachable',
  'tainted',
  'emptying',
  'maintenance',
  'paused',
] as const satisfies readonly NodeState[];

export interface NodeCell {
  readonly name: string;
  readonly zone: string;
  readonly policy: string | null;
  readonly state: NodeState;
  /** Time at which the state was first seen. */
  readonly since: string;
  /** Number of pods bound to it. */
  readonly pods: number;
  /** Why nothing further happens to it now, or null. */
  readonly held: string | null;
  /** What happens next, null if nothing. `at` is null if it is not known. */
  readonly next: { readonly what: string; readonly at: string | null } | null;
}

export interface ZoneRow {
  readonly name: string;
  readonly outer: string | null;
  /** Null, as the next ones: this server does not know it. */
  readonly condition: string | null;
  /** Number of nodes that count in the disruption state of the zone. */
  readonly nodes: number;
  readonly unready: number;
  readonly ratePerSecond: number | null;
  readonly tokens: number | null;
  readonly waiting: number | null;
  /** Time until the queue is empty at this rate; null if it is not known or the rate is 0. */
  readonly drainSeconds: number | null;
}

export interface HoldBanner {
  readonly kind: string;
  /** One sentence. */
  readonly why: string;
  readonly since: string | null;
  readonly until: string | null;
  /** What ends it. */
  readonly ends: string;
}

export interface PendingEviction {
  readonly pod: string;
  readonly node: string;
  readonly at: string;
}

export interface PolicyRow {
  readonly name: string;
  readonly mode: string;
  /** Windows of its schedules that have begun; missing: the server is older than schedules. */
  readonly windows?: readonly string[];
  readonly nodes: number;
  readonly unhealthy: number;
  readonly held: number;
  readonly breaker: { readonly open: boolean; readonly text: string } | null;
}

export interface TimelineLine {
  readonly id: number;
  readonly at: string;
  readonly kind: string;
  readonly text: string;
  readonly warning: boolean;
  readonly node: string | null;
  readonly pod: string | null;
  readonly zone: string | null;
}

/** One point of the plots, of `samplesEverySeconds`. */
export interface Sample {
  readonly at: string;
  /** Number of nodes whose last heartbeat is older than their grace period. */
  readonly silent: number;
  /** Pods that were evicted since the last point; null: this server does not know it. */
  readonly evictions: number | null;
  /** Requests to the API server since the last point; null: this server does not know it. */
  readonly requests: number | null;
  /**
   * Seconds between heartbeats' due time and arrival is not known; this is the age of heartbeats: time since the last
   * one, over nodes that are not silent.
   */
  readonly heartbeatP50: number | null;
  readonly heartbeatP99: number | null;
}

export interface ShadowRow {
  readonly stage: string;
  readonly text: string;
}

export interface Cluster {
  readonly at: string;
  readonly mode: string;
  readonly leading: boolean;
  readonly leader: string | null;
  readonly shadow: boolean;
  /** The replica that answers first, then others that have led: a standby is not visible to other replicas. */
  readonly replicas: readonly string[];
  readonly holds: readonly HoldBanner[];
  readonly policies: readonly PolicyRow[];
  /** The 200 that are due first. */
  readonly evictions: readonly PendingEviction[];
  readonly evictionsTotal: number;
  readonly comparison: readonly ShadowRow[] | null;
}

export interface ServerInfo {
  readonly version: string;
  readonly kind: 'controller' | 'demo' | 'hollow-nodes';
  readonly identity: string;
  readonly actionKinds: readonly string[];
  readonly samplesEverySeconds: number;
  readonly timelineMax: number;
}

export interface Snapshot {
  readonly server: ServerInfo;
  readonly cluster: Cluster;
  readonly zones: readonly ZoneRow[];
  readonly nodes: readonly NodeCell[];
  readonly timeline: readonly TimelineLine[];
  readonly samples: readonly Sample[];
}

/** What changed; absent: unchanged. `cluster` and `zones` are whole when they changed; `nodes` are the changed ones. */
export interface Delta {
  readonly cluster?: Cluster;
  readonly zones?: readonly ZoneRow[];
  readonly nodes?: readonly NodeCell[];
  readonly removedNodes?: readonly string[];
  readonly timeline?: readonly TimelineLine[];
  readonly sample?: Sample;
}
