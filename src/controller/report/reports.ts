/** What reports are made of. Numbers in Ms are times on the monotonic clock, unless they are named wall or health. */
import type { Toleration } from '../../machinery/api/tolerations.ts';
import type { Taint } from '../../machinery/api/taints.ts';
import type { ZoneCondition } from '../../machinery/api/zone.ts';
import type { OutageArithmetic, ZoneArithmetic } from '../model/decisions.ts';
import type { EvictionMark, Now } from '../model/node-state.ts';
import type { ControllerSelection, PolicySource } from '../model/options.ts';
import type { PodKeeper, StuckPod } from '../model/policy.ts';
import type { RateWait, WhyNotEvicted } from '../model/waiting-pods.ts';
import type { CollectionOutlook, ExplainedHold } from './pages.ts';

/** What applies to all nodes at one moment, and the zones as they were first read then. */
export interface ClusterReport {
  readonly now: Now;
  /** The health clock. */
  readonly healthNowMs: number;
  readonly leading: boolean;
  /** Shadow mode: nothing is written. */
  readonly shadow: boolean;
  /** Identity of the leader; null: unknown. */
  readonly leader: string | null;
  readonly mode: 'taint' | 'eviction';
  /** Controllers that run in this process; actions of others are not predicted. */
  readonly runs: ControllerSelection;
  /** Where the policies come from. */
  readonly policySource: PolicySource;
  /** Why watch streams are stale; undefined while they are fresh. */
  readonly stale: string | undefined;
  readonly fullDisruption: boolean;
  zone(key: string): ZoneReport;
  /** The zones of an outer zone in which nodes wait. */
  innerOf(outer: string): readonly InnerZone[];
  /** Eviction mode: the nodes of a zone that wait for the end of their timeout, in the order in which they will be queued. */
  dueIn(zone: string): readonly DueNode[];
}

/** The hold because most nodes of several zones became silent together. */
export interface OutageHoldReport {
  readonly why: OutageArithmetic;
  readonly untilMs: number;
  /** Enough nodes renew again; the hold ends at `untilMs`. */
  readonly recovering: boolean;
}

/** The queue of one zone, with its rate limiter. */
export interface QueueReport {
  /** Names of the nodes in the order in which they are served. */
  readonly nodes: readonly string[];
  readonly tokens: number;
  /** Infinity while stopped. */
  readonly nextTokenAtMs: number;
  readonly ratePerSecond: number;
}

export interface ZoneReport {
  /** Its name for people. */
  readonly zone: string;
  readonly condition: ZoneCondition;
  /** Undefined until the zone is evaluated for the first time; a standby evaluates none. */
  readonly arithmetic: ZoneArithmetic | undefined;
  /** The queue of the zone itself: its outer zone has a bucket of its own. */
  readonly queue: QueueReport;
  /** Number of nodes in its queue; of an outer zone in those of its zones. */
  readonly waiting: number;
  /** Rate and tokens as far as its outer zone allows. */
  readonly allowed: { readonly ratePerSecond: number; readonly tokens: number };
  /** How many of its unready nodes would have to become ready for the zone to be normal; undefined if it is. */
  readonly recoveriesToNormal: number | undefined;
  /** The outer zone, which must allow each NoExecute taint too; undefined: the zone has none. */
  readonly outer: ZoneReport | undefined;
  /** Numbers of the nodes that wait in the other zones of its outer zone, and need its tokens too. */
  readonly competing: readonly number[];
  /** Number of nodes before this one in its queue; undefined: it is not queued. */
  placeOf(node: string): number | undefined;
}

export interface TaintReport {
  readonly carried: readonly Taint[];
  /** Managed taints that the node should have. */
  readonly wanted: readonly Taint[];
  /** Managed taints that the node has and should not have. */
  readonly surplus: readonly Taint[];
  /** Key of the missing NoExecute taint, which is added at the zone's rate. */
  readonly rationedKey: string | undefined;
}

interface TimedEvictionReport {
  readonly atMs: number;
  readonly taint: string;
  /** Held by what holds evictions for the health of the node. */
  readonly forHealth: boolean;
  readonly toleratedSeconds: number;
}

/** Why a pod that is due waits. */
interface RemovalWaitReport {
  /** The Eviction API does not evict it now. */
  readonly refused?: {
    readonly why: WhyNotEvicted;
    /** Message of the API server, or how its requests fail. */
    readonly message: string;
    readonly sinceMs: number;
    readonly deletedAtMs: number;
  };
  /** The wait for a token of the policy. */
  readonly rate?: RateWait;
  /** The wait for a responder of its Eviction. */
  readonly responder?: {
    readonly name: string;
    /** `namespace/name`. */
    readonly eviction: string;
    /** Wall time. */
    readonly heartbeatAtMs: number;
    readonly deletedAtMs: number;
  };
}

/** A zone of an outer zone, with the number of nodes in its queue. */
export interface InnerZone {
  readonly zone: string;
  readonly waiting: number;
}

/** Eviction mode: a node whose timeout ends then. */
export interface DueNode {
  readonly name: string;
  readonly atMs: number;
}

/** Eviction mode: the progress of a node's eviction. */
export interface NodeEvictionReport {
  readonly mark: EvictionMark;
  /**
   * Time at which the timeout of the node ends, if the node stays Ready=False, or else without a further heartbeat;
   * undefined before its first evaluation.
   */
  readonly dueAtMs: number | undefined;
  /** When other nodes, whose timeout ends earlier, will be queued before it. */
  readonly beforeMs: readonly number[];
}

/** The part of a pod that matters for its eviction. */
export interface PodBrief {
  /** `namespace/name`. */
  readonly pod: string;
  readonly tolerations: readonly Toleration[];
  readonly terminating: boolean;
  readonly timedEviction: TimedEvictionReport | undefined;
  readonly wait: RemovalWaitReport | undefined;
  /** Eviction mode: it is kept, because this DaemonSet would create it again on the same node. */
  readonly daemonSet: string | undefined;
  /** It terminates for too long. */
  readonly stuck: StuckPod | undefined;
  /** The policy that keeps it from evictions for the health of its node. */
  readonly keeper: PodKeeper | undefined;
}

/** What the pod garbage collector does about a pod. */
export interface CollectionReport {
  readonly outlook: CollectionOutlook | null;
  /** When the pod is deleted. */
  readonly atMs: number;
  readonly holds: readonly ExplainedHold[];
}

/** Nodes of which is not known yet whether they failed with this one. */
export interface AwaitedReport {
  /** Those of its zone without which the zone would be slower; empty: they may be most nodes of the cluster. */
  readonly nodes: readonly string[];
  /** When each of them has sent a heartbeat, or counts as silent. */
  readonly untilMs: number;
}
