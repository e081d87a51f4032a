/** Holds: what keeps an act from being done, and the evidence from which that follows. */
import type { StaleReason } from './freshness.ts';
import type { EmptyingStatus, HourlyLimit, Maintenance, NodeAct, NodeHold, Veto } from './policy.ts';
import type { SilenceOutageClass } from './decisions.ts';

/** What the controller does to a node or its pods, as far as something may hold it. */
export type Act =
  | 'mark-unknown'
  | 'add-no-schedule'
  | 'add-no-execute'
  | 'add-out-of-service'
  | 'add-flapping-taint'
  | 'mark-pods'
  /** In eviction mode: a node is served, and its pods are deleted. */
  | 'empty-node'
  /** Deletion or eviction of a pod for the health of its node. */
  | 'delete-for-health'
  /** Deletion of a pod for another taint. */
  | 'delete-for-taint'
  /** Deletion of a pod by the garbage collector because of its node. */
  | 'collect-pods'
  | 'remove-taints'
  | 'set-labels';

/** Each act under the name by which it is reported. */
export const reportedAct: Readonly<Record<Act, NodeAct>> = {
  'mark-unknown': 'mark-unknown',
  'add-no-schedule': 'add-taints',
  'add-no-execute': 'add-taints',
  'add-out-of-service': 'add-taints',
  'add-flapping-taint': 'add-taints',
  'mark-pods': 'mark-pods-not-ready',
  'empty-node': 'delete-pods',
  'delete-for-health': 'delete-pods',
  'delete-for-taint': 'delete-pods',
  'collect-pods': 'delete-pods',
  'remove-taints': 'remove-taints',
  'set-labels': 'set-labels',
};

export type HoldKind =
  | 'observed'
  | 'paused'
  | 'detect-only'
  | 'pods-kept-ready'
  | 'maintenance'
  | 'veto'
  | 'breaker'
  | 'concurrency'
  | 'hourly-limit'
  | 'stale'
  | 'stale-pods'
  | 'full-disruption'
  | 'outage'
  | 'unclassified'
  | 'awaited'
  | 'unconfirmed'
  | 'node-is-ready'
  | 'lease-is-renewed'
  | 'late-cache'
  | 'zone-stopped';

/** To what a hold applies. */
export type HoldScope = 'cluster' | 'zone' | 'policy' | 'node' | 'pod';

/**
 * What ends a hold: a time; a change of what it follows from; a live read of the node or its lease; the tokens of a queue, which
 * are asked there.
 */
export type HoldEnd = 'time' | 'change' | 'live-read' | 'token';

/** One hold of one act. */
export interface Hold {
  readonly kind: HoldKind;
  readonly scope: HoldScope;
  readonly endsBy: HoldEnd;
  /** Wall time of its beginning; undefined: not known. */
  readonly sinceMs: number | undefined;
  /** Wall time of its end; Infinity: no end is known. */
  readonly untilMs: number;
  /** Time after which it is to be asked for again at the latest; Infinity: a change of it evaluates the node. */
  readonly askAgainMs: number;
}

/** The open breaker of the policy of a node. */
export interface OpenBreaker {
  readonly policy: string;
  readonly openedAtMs: number;
  /** Wall time of its end; Infinity: while too many nodes are unhealthy, no end is known. */
  readonly untilMs: number;
}

/** What is known of a node, as far as holds follow from it. Times are wall times; undefined or false: it does not apply. */
export interface HoldEvidence {
  /** The mode of its policy, or a pause. */
  readonly mode: NodeHold | undefined;
  readonly maintenance: Maintenance | undefined;
  /** A mark of another tool. */
  readonly veto: Veto | undefined;
  /** Its maintenance is over, and no pass has counted the node since: it may be one of many. */
  readonly isUncounted: boolean;
  readonly breaker: OpenBreaker | undefined;
  /** The nodes of its policy that are emptied before this one, as many as may be at once. */
  readonly emptying: Pick<EmptyingStatus, 'policy' | 'max'> | undefined;
  /** As many pods of nodes of its policy were evicted within an hour as may be. */
  readonly hourlyLimit: HourlyLimit | undefined;
  readonly stale: StaleReason | undefined;
  readonly arePodsStale: boolean;
  readonly isFullyDisrupted: boolean;
  /** The outage of which its silence is part, with the hold that follows. */
  readonly outage: OutageHoldEvidence | undefined;
  /** When it is known at the latest whether its silence is part of an outage; undefined: it is, or it is not silent. */
  readonly unclassifiedUntilMs: number | undefined;
  /** Heartbeats of nodes that may have failed with it are awaited, where that may lower the rate of its zone. */
  readonly isAwaiting: boolean;
  /** It looks silent, and a live read of its lease does not confirm it. */
  readonly isUnconfirmed: boolean;
  /** It is Ready while its pods are due: its taint is about to be removed. */
  readonly isReady: boolean;
  /** Its lease is renewed while the cache shows it unreachable. */
  readonly isLeaseRenewed: boolean;
  /** The cache may lack changes of it that others made some time ago. */
  readonly isCacheLate: boolean;
  /** The zone whose rate is 0, for a node that waits for a token of it. */
  readonly stoppedZone: string | undefined;
}

/** Evidence from which no hold follows. */
export const noHolds: HoldEvidence = {
  mode: undefined,
  maintenance: undefined,
  veto: undefined,
  isUncounted: false,
  breaker: undefined,
  emptying: undefined,
  hourlyLimit: undefined,
  stale: undefined,
  arePodsStale: false,
  isFullyDisrupted: false,
  outage: undefined,
  unclassifiedUntilMs: undefined,
  isAwaiting: false,
  isUnconfirmed: false,
  isReady: false,
  isLeaseRenewed: false,
  isCacheLate: false,
  stoppedZone: undefined,
};

interface OutageHoldEvidence {
  readonly outage: SilenceOutageClass;
  readonly fromMs: number;
  readonly untilMs: number;
}

/** What a stage asks before it takes a slot or a token. */
export interface Holds {
  /**
   * Milliseconds for which something holds this act for this node; 0: nothing does. The question is recorded. `pod`: uid of the pod
   * that is to be evicted.
   */
  heldForMs(node: string, act: Act, pod?: string): number;
  /** Whether what holds this act for this node is what a person or a policy decided. Records nothing. */
  isIntended(node: string, act: Act): boolean;
  /** Whether something holds this act for all nodes. */
  isHeldForAll(act: Act): boolean;
}

/** Counts pods (uid) that are evicted for the health of their node. */
export interface EvictionCount {
  /** A request for the pod is being sent: it has a place until that is answered. */
  reserve(node: string, pod: string): void;
  /** `evicted`: or it may have been. `marked`: it keeps its place for the deletion that follows. */
  settle(pod: string, how: 'evicted' | 'marked' | 'not-done'): void;
}

/** What reports read of holds. Nothing is recorded. */
export interface HoldReader {
  /** Every hold of any of these acts for this node now, each once, in the order of precedence. */
  of(node: string, ...acts: readonly Act[]): Iterable<Hold>;
  /** Those of an act on this pod (uid), which may have been evicted and keeps its place. */
  ofPod(node: string, pod: string, act: Act): Iterable<Hold>;
  evidenceOf(node: string, ...acts: readonly Act[]): HoldEvidence;
  /** Every hold of any act for all nodes, in the order of precedence. */
  ofAll(): Iterable<Hold>;
}
