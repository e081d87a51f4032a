import type { ZoneCondition } from '../../machinery/api/zone.ts';
import type { BreakerStatus, PolicyMode } from '../../controller/model/policy.ts';

/** Hold of the writes for a node: a mode, a pause, a breaker or planned maintenance, and its author. */
export interface PreviewHold {
  readonly what: string;
  /** RFC 3339; null: no end is known. */
  readonly until: string | null;
}

/**
 * Whether the node is marked Unknown. `already`: it is. `now`: it is due. `held`: it is due and held. `later`: at `from` in
 * {@link NodePreview}, without a further heartbeat.
 */
type MarkPreview = 'already' | 'now' | 'held' | 'later';

/**
 * The NoExecute taint for the health of the node. `carried`: it stays. `added`: at the rate of the zone. `removed`. `held`:
 * its addition or removal is held. `stopped`: the zone adds none now.
 */
export type TaintPreview = 'none' | 'carried' | 'added' | 'removed' | 'held' | 'stopped';

/** One node under one configuration. */
export interface NodePreview {
  /** Null: the default. */
  readonly policy: string | null;
  /** Policies that claim it equally, so that none of them applies. */
  readonly conflict: readonly string[];
  readonly mode: PolicyMode;
  /** Grace period of the node; if it never posted a status, the startup grace period. */
  readonly gracePeriodSeconds: number;
  /** From this age of its last heartbeat on other evidence may end the grace period; null: none is asked for. */
  readonly earlyFromSeconds: number | null;
  readonly zone: string;
  /** Status of its Ready condition, as the controller evaluates it: Unknown without a heartbeat in time. */
  readonly ready: string;
  readonly markedUnknown: MarkPreview;
  /** RFC 3339: when it is due to be marked without a further heartbeat; null: it is already. */
  readonly unknownFrom: string | null;
  readonly noExecute: TaintPreview;
  /** The taint out-of-service, where the policy adds it or added it before. */
  readonly outOfService: Exclude<TaintPreview, 'stopped'>;
  /**
   * Quarantine of a node that recovers often, by its annotation: recoveries before the reading are not known. `released`:
   * it has the taint and loses it. `held`: it loses it when a hold ends.
   */
  readonly flapping: 'none' | 'kept' | 'released' | 'held';
  /** RFC 3339: until when it is kept; null: it is not. */
  readonly keptUntil: string | null;
  readonly hold: PreviewHold | null;
  /** Number of its pods that are or will be evicted, and of those whose eviction is held. */
  readonly podsEvicted: number;
  readonly podsHeld: number;
  /** Number of its Ready pods that are marked NotReady, which takes them out of their Services. */
  readonly podsMarked: number;
}

export interface ZonePreview {
  readonly nodes: number;
  readonly notReady: number;
  readonly state: ZoneCondition;
  /** NoExecute taints per second. */
  readonly ratePerSecond: number;
}

export interface PolicyPreview {
  readonly mode: PolicyMode;
  /** Number of nodes to which it applies, and of those that it and another policy claim equally. */
  readonly nodes: number;
  readonly conflicts: number;
  /** Null: it has no limits. */
  readonly breaker: (Pick<BreakerStatus, 'unhealthy' | 'limit'> & { readonly open: boolean }) | null;
  /** Flapping nodes that are kept, and how many may be at once; null: it keeps none. */
  readonly flapping: { readonly kept: number; readonly limit: number } | null;
}

/** A cluster under one configuration. */
export interface ClusterPreview {
  /** Each by its name. */
  readonly nodes: ReadonlyMap<string, NodePreview>;
  readonly zones: ReadonlyMap<string, ZonePreview>;
  readonly policies: ReadonlyMap<string, PolicyPreview>;
  /** Number of completed pods that the pod garbage collector does not keep; null: it does not run. */
  readonly podsNotKept: number | null;
  /** No zone has a ready node: nothing is tainted or evicted for the health of nodes. */
  readonly fullDisruption: boolean;
}
