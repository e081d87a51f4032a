/** The records of explanations. Those named Report are input; their numbers in Ms are times on the monotonic clock. */
import type { Taint } from '../../machinery/api/taints.ts';
import type { Toleration } from '../../machinery/api/tolerations.ts';
import type { ZoneCondition } from '../../machinery/api/zone.ts';
import type { InformerStatus } from '../../machinery/informer/informer.ts';
import type {
  BreakerCount,
  Decision,
  GraceRule,
  OutageArithmetic,
  PodGcReason,
  RateRule,
  ZoneArithmetic,
  SettingChange,
} from '../model/decisions.ts';
import type {
  BreakerStatus,
  EmptyingStatus,
  HoldSource,
  Maintenance,
  MaintenanceSignal,
  NodeHold,
  PolicyMode,
} from '../model/policy.ts';
import type { FlappingReport } from '../model/flapping.ts';
import type { EvictionRefusal } from '../model/commands.ts';
import type { RateWait } from '../model/waiting-pods.ts';
import type { OutOfServiceState } from '../model/out-of-service.ts';
import type { ControllerName, ControllerSelection, PolicySource } from '../model/options.ts';
import type { EvictionMark, HeartbeatChannel, Now } from '../model/node-state.ts';

/** State that applies to all nodes. */
export interface ClusterReport {
  readonly now: Now;
  readonly leading: boolean;
  /** Shadow mode: nothing is written. */
  readonly shadow: boolean;
  /** Identity of the leader; null: unknown. */
  readonly leader: string | null;
  /** How pods of a failed node are evicted: by taints that they do not tolerate, or by deletion when the node is served. */
  readonly mode: 'taint' | 'eviction';
  /** Controllers that run in this process; actions of others are not predicted. */
  readonly runs: ControllerSelection;
  /** Why watch streams are stale; undefined while they are fresh. */
  readonly stale: string | undefined;
  /** The watch of pods is not open, which holds deletions of pods for a bounded time. */
  readonly podsStale: boolean;
  readonly fullDisruption: boolean;
  /** The hold because most nodes of several zones became silent together. */
  readonly outageHold: OutageHoldReport | undefined;
  /** A policy or a pause that holds writes for the node; without a node, the pause of all nodes. */
  readonly nodeHold: NodeHold | undefined;
  /** Where the policies come from. */
  readonly policySource: PolicySource;
  /** Planned maintenance of the node. */
  readonly maintenance: Maintenance | undefined;
  /** The open breaker of the policy of the node; without a node, undefined. */
  readonly breaker: BreakerStatus | undefined;
  /** The nodes that are emptied before this one, where that holds it; without a node, undefined. */
  readonly emptying: EmptyingStatus | undefined;
}

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
  readonly zone: string;
  readonly condition: ZoneCondition;
  /** Undefined until the zone is evaluated for the first time; a standby evaluates none. */
  readonly arithmetic: ZoneArithmetic | undefined;
  readonly queue: QueueReport;
  /** How many of its unready nodes would have to become ready for the zone to be normal; undefined if it is. */
  readonly recoveriesToNormal: number | undefined;
  /** The outer zone of the zone, which must allow each NoExecute taint too; absent: the zone has none. */
  readonly outer?: OuterZoneReport;
}

interface OuterZoneReport extends ZoneReport {
  /** Numbers of the nodes that wait in its other zones, and need its tokens too. */
  readonly competing: readonly number[];
}

export interface HealthReport {
  readonly lastHeartbeat: Past & { readonly channel: HeartbeatChannel };
  /** `policy`: the policy that sets it; null: the setting of the controller. */
  readonly grace: {
    readonly seconds: number;
    readonly rule: GraceRule;
    readonly flag: string;
    readonly policy: string | null;
  };
  readonly silence: { readonly silent: boolean; readonly since: Past | null; readonly from: Estimate | null };
  /** The earliest time at which it is or was silent; assumes fresh watches and no heartbeat. */
  readonly silentFromMs: number;
}

/** Which policy applies to a node. `name` is null: the default. */
export interface PolicyReport {
  readonly name: string | null;
  readonly mode: PolicyMode;
  /** Policies that claim the node equally, so that none of them applies. */
  readonly conflict: readonly string[];
  /** The policy as an object of the API; absent: it is in the config file, or there is none. */
  readonly object?: string;
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
    readonly why: EvictionRefusal;
    /** Message of the API server. */
    readonly message: string;
    readonly sinceMs: number;
    readonly deletedAtMs: number;
  };
  /** The wait for a token of the policy. */
  readonly rate?: RateWait;
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
  /** The policy that keeps it from evictions for the health of its node. */
  readonly keeper: string | undefined;
}

/** What the pod garbage collector does about a pod. */
export interface CollectionReport {
  readonly outlook: CollectionOutlook | null;
  /** When the pod is deleted. */
  readonly atMs: number;
  readonly holds: readonly Hold[];
}

export type FinishedPodsReport = Pick<PodGcReport, 'finished' | 'threshold'>;

/** Nodes of which is not known yet whether they failed with this one. */
export interface AwaitedReport {
  /** Those of its zone without which the zone would be slower; empty: they may be most nodes of the cluster. */
  readonly nodes: readonly string[];
  /** When each of them has sent a heartbeat, or counts as silent. */
  readonly untilMs: number;
}

export interface NodeReport {
  readonly node: string;
  /** Status of the Ready condition, or `missing`. */
  readonly ready: string;
  /** Whether the node counts for the disruption state of its zone. */
  readonly counted: boolean;
  readonly health: HealthReport | undefined;
  /** Null: there are no policies. */
  readonly policy: PolicyReport | null;
  /** Whether the node has, gets or loses the taint out-of-service. */
  readonly outOfService: OutOfServiceState;
  /** Whether the node recovers often, and is kept from new pods. */
  readonly flapping: FlappingReport;
  readonly taints: TaintReport;
  /** Undefined in taint mode. */
  readonly eviction: NodeEvictionReport | undefined;
  /** What its NoExecute taint waits for, or would wait for if it sent no further heartbeat. */
  readonly awaited: AwaitedReport | undefined;
  readonly zone: ZoneReport;
  /** Evictions per second in its zone if this node, and no other, became silent. */
  readonly ratePerSecondIfSilent: number;
  readonly pods: readonly PodBrief[];
  /** Malformed fields of the node and its lease: field, value, accepted values. */
  readonly problems: readonly string[];
  readonly history: readonly HistoryLine[];
}

export interface PodReport extends PodBrief {
  /** Empty while the pod is not bound. */
  readonly nodeName: string;
  readonly phase: string;
  /** The NoExecute taints of its node, each with the start of its countdown. */
  readonly running: readonly { readonly taint: Taint; readonly sinceMs: number }[];
  /** Undefined when its node does not exist. */
  readonly node: NodeReport | undefined;
  /** Eviction mode: its node does not exist, but is still queued in this zone, and will be served. */
  readonly queueOfLostNode: ZoneReport | undefined;
  readonly collection: CollectionReport;
  /** Malformed fields of the pod: field, value, accepted values. */
  readonly problems: readonly string[];
  readonly history: readonly HistoryLine[];
  /** History of earlier pods with the name, such as those of a StatefulSet. */
  readonly historyOfFormer: readonly HistoryLine[];
}

export interface InformerReport extends Pick<InformerStatus, 'state' | 'synced' | 'consecutiveFailures'> {
  readonly name: string;
  readonly objects: number;
  readonly lastFrame: Past | null;
  readonly lastError: string | null;
}

/** Eviction mode: nodes whose timeout has not ended, and evicted nodes. */
export interface EvictedNodesReport {
  readonly timed: number;
  readonly evicted: number;
}

export interface PodGcReport {
  /** Number of terminated pods, and how many of them are kept; null keeps all. */
  readonly finished: number;
  readonly threshold: number | null;
  readonly nextRound: Estimate;
  /** Number of nodes that pods are bound to and that do not exist. */
  readonly missingNodes: number;
}

/** Policies as objects of the API. */
export interface PolicyObjectsReport {
  readonly inForce: number;
  /** Objects whose current version is not in force. `generation`: the version that is; `paused`: so are its nodes; null: none. */
  readonly refused: readonly {
    readonly object: string;
    readonly problems: readonly string[];
    readonly generation: number | 'paused' | null;
  }[];
  /** Annotations of objects that do not count. */
  readonly annotations: readonly { readonly object: string; readonly problem: string }[];
}

/** Difference between the config file and the settings in force. */
export interface ConfigFileReport {
  readonly path: string;
  /** Reasons why the file is invalid, so that the previous settings are in force; empty if it is valid. */
  readonly problems: readonly string[];
  /** Changed settings that need a restart. */
  readonly waiting: readonly SettingChange[];
}

export interface Past {
  readonly at: string;
  readonly secondsAgo: number;
}

/** A predicted time if nothing else changes. `at` and `inSeconds` are null: not in the current state. */
export interface Estimate {
  readonly estimate: true;
  readonly at: string | null;
  readonly inSeconds: number | null;
}

/** `no-heartbeat`: a heartbeat would prevent it. `nothing-changes`: a change of the node or its zone may. */
export type Given = 'no-heartbeat' | 'nothing-changes';

/** What would end a hold. */
export type Unblocker =
  | { readonly kind: 'ask-leader'; readonly holder: string | null }
  | { readonly kind: 'contact-with-api' }
  /** Most nodes have no lease. */
  | { readonly kind: 'leases-exist' }
  | { readonly kind: 'pods-watched' }
  /** Nodes from which a heartbeat is awaited send one. */
  | { readonly kind: 'heartbeats' }
  /** By then it is known which nodes failed together. */
  | { readonly kind: 'failure-known'; readonly when: Estimate }
  | { readonly kind: 'permission'; readonly needed: string }
  | { readonly kind: 'time'; readonly when: Estimate }
  /** So many nodes of this zone, or of any zone if null, become ready. */
  | { readonly kind: 'nodes-ready'; readonly zone: string | null; readonly count: number }
  | { readonly kind: 'api-answers' }
  /** A setting of the config file. */
  | { readonly kind: 'setting'; readonly setting: string; readonly wanted: string }
  /** A field of an object of the API. */
  | { readonly kind: 'field'; readonly object: string; readonly field: string; readonly wanted: string }
  | { readonly kind: 'annotation'; readonly annotation: string }
  /** All signals of maintenance are gone: conditions no longer True, taints removed. */
  | { readonly kind: 'maintenance-cleared'; readonly signals: readonly MaintenanceSignal[] }
  | { readonly kind: 'maintenance-maximum'; readonly when: Estimate }
  | { readonly kind: 'pause-ends'; readonly when: Estimate }
  | { readonly kind: 'cooldown-ends'; readonly when: Estimate }
  /** A PodDisruptionBudget, or whatever refuses the eviction, allows it. */
  | { readonly kind: 'eviction-allowed' }
  | { readonly kind: 'refusal-timeout'; readonly when: Estimate }
  | { readonly kind: 'token'; readonly when: Estimate }
  /** A node of the list has no pod left that its taint evicts, or recovers. */
  | { readonly kind: 'node-emptied'; readonly nodes: readonly string[] }
  /** So many unhealthy nodes of the policy recover or are deleted, and the cooldown passes. */
  | {
      readonly kind: 'nodes-healthy';
      readonly policy: string;
      readonly count: number;
      readonly cooldownSeconds: number;
    }
  | { readonly kind: 'flag'; readonly flag: string; readonly wanted: 'above 0' | 'naming it' | 'left out' };

/** Why a wanted action does not happen, and what would end that: any one of the unblockers. */
export type Hold = { readonly unblockedBy: readonly Unblocker[] } & (
  | { readonly kind: 'not-leader' }
  | { readonly kind: 'full-disruption' }
  /** Predicted actions are decided, and not carried out. */
  | { readonly kind: 'shadow' }
  | { readonly kind: 'stale'; readonly reason: string }
  | { readonly kind: 'stale-pods' }
  /** It is not known yet whether these nodes, so many, failed with this one; none is named: most of the cluster may have. */
  | { readonly kind: 'awaited'; readonly nodes: readonly string[]; readonly count: number }
  /** Predicted actions are decided, and not carried out. */
  | { readonly kind: 'observed'; readonly policy: string }
  | { readonly kind: 'paused'; readonly source: HoldSource }
  /** NoExecute taints and evictions for the health of the node only. */
  | { readonly kind: 'maintenance'; readonly policy: string }
  /** No NoExecute taint and no eviction for the health of the nodes of this policy. */
  | ({ readonly kind: 'breaker'; readonly policy: string } & BreakerCount)
  /** As many nodes of the policy are being emptied as may be at once. */
  | { readonly kind: 'concurrency'; readonly policy: string; readonly max: number }
  /** The Eviction API does not evict the pod. */
  | { readonly kind: 'refused'; readonly why: EvictionRefusal; readonly message: string; readonly since: Past }
  /** The pod waits for a token of its policy. */
  | { readonly kind: 'deletion-rate'; readonly policy: string; readonly ratePerSecond: number; readonly ahead: number }
  /** The node looks silent in the caches, and its lease could not be read, or is missing as most others are. */
  | { readonly kind: 'unconfirmed' }
  /** The controller does not run in this process. */
  | { readonly kind: 'not-run'; readonly part: ControllerName }
  /** The node of the pod could not be read. */
  | { readonly kind: 'node-unanswered'; readonly node: string }
  | { readonly kind: 'outage'; readonly why: OutageArithmetic }
  | { readonly kind: 'zone-stopped'; readonly zone: string; readonly rule: RateRule }
);

export interface HistoryLine {
  readonly at: string;
  readonly decision: Decision;
  readonly text: string;
}

type EvictionCause =
  /** 0 s: not tolerated. */
  | { readonly kind: 'taint'; readonly taint: string; readonly toleratedSeconds: number }
  /** Eviction mode: deleted with all pods of its node. */
  | { readonly kind: 'node-evicted' };

export interface EvictionOutlook {
  readonly pod: string;
  /**
   * `scheduled`: it has a deadline, or its node is evicted already. `predicted`: its node is expected to get the taint,
   * or to be evicted.
   */
  readonly state: 'scheduled' | 'predicted';
  readonly cause: EvictionCause;
  readonly given: Given;
  readonly when: Estimate;
}

export interface NextAction {
  readonly act: 'mark-unknown' | 'change-taints' | 'add-taint' | 'evict-node' | 'evict-pod' | 'collect-pod' | 'none';
  /** Taints or a pod. */
  readonly subject: string | null;
  readonly given: Given;
  readonly when: Estimate | null;
}

/** Why a pod is not expected to be evicted. */
export type StayOutlook =
  | { readonly why: 'already-terminating' }
  /** The controller that evicts pods does not run in this process. */
  | { readonly why: 'not-run'; readonly part: ControllerName }
  | { readonly why: 'not-bound' }
  /** The node of the pod does not exist, so neither a taint nor the queue evicts the pod. */
  | { readonly why: 'node-unknown' }
  /** Eviction mode: the DaemonSet would create it again on the same node. */
  | { readonly why: 'daemon-set'; readonly daemonSet: string }
  /** The policy keeps completed pods. */
  | { readonly why: 'completed'; readonly policy: string }
  | { readonly why: 'tolerates-forever' }
  | { readonly why: 'nothing-points-to-it' };

/** What the pod garbage collector will do about a pod, or why it does nothing. */
export type CollectionOutlook =
  | {
      readonly kind: 'expected';
      readonly why: PodGcReason;
      /** End of the quarantine of its missing node, which is then read live. Null: not missing. */
      readonly quarantineEnds: Estimate | null;
      readonly when: Estimate;
      /** What would prevent it. Null: unknown. */
      readonly unless: 'node-known-again' | 'node-back-in-service' | 'fewer-finished-pods' | null;
    }
  /** Number of terminated pods, of which this one is within the threshold; a threshold of null keeps all. */
  | { readonly kind: 'kept'; readonly finished: number; readonly threshold: number | null }
  /** The pod was already deleted without a grace period; only its finalizers keep it. */
  | { readonly kind: 'held-by-finalizers' };
