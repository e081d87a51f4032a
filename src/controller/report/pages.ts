// The JSON of the pages of explanations, of which docs/pages.schema.json is made: `/explain/...`, `/status`. What clients read: the
// plugin, `nlc top`, the dashboard. Times are RFC 3339.
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
  SettingChange,
} from '../model/decisions.ts';
import type { DetectionDoubt } from '../model/detection.ts';
import type { FlappingReport } from '../model/flapping.ts';
import type { HoldKind } from '../model/holds.ts';
import type { EvictionMark, HeartbeatChannel } from '../model/node-state.ts';
import type { ControllerName, ControllerSelection } from '../model/options.ts';
import type { OutOfServiceState } from '../model/out-of-service.ts';
import type {
  BreakerStatus,
  HoldSource,
  MaintenanceSignal,
  PolicyCount,
  PolicyMode,
  Veto,
  SignalMeaning,
} from '../model/policy.ts';
import type { WhyNotEvicted } from '../model/waiting-pods.ts';
import type { NodeState } from './classify-node-state.ts';

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
  | { readonly kind: 'ends'; readonly when: Estimate }
  /** So many nodes of this zone, or of any zone if null, become ready. */
  | { readonly kind: 'nodes-ready'; readonly zone: string | null; readonly count: number }
  | { readonly kind: 'api-answers' }
  /** The node is read from the API server before anything is done. */
  | { readonly kind: 'live-read' }
  /** A setting of the config file. */
  | { readonly kind: 'setting'; readonly setting: string; readonly wanted: string }
  /** A field of an object of the API. */
  | { readonly kind: 'field'; readonly object: string; readonly field: string; readonly wanted: string }
  | { readonly kind: 'annotation'; readonly annotation: string }
  /** All signals of maintenance are gone: conditions no longer True, taints removed. */
  | { readonly kind: 'maintenance-cleared'; readonly signals: readonly MaintenanceSignal[] }
  | { readonly kind: 'maintenance-maximum'; readonly when: Estimate }
  /** The heartbeats of the node end: none of its signals of maintenance holds a silent node. */
  | { readonly kind: 'silence' }
  /** Maintenance is over, and the next pass counts the node. */
  | { readonly kind: 'counted' }
  | { readonly kind: 'pause-ends'; readonly when: Estimate }
  /** The window of a schedule that sets the mode. */
  | { readonly kind: 'window-ends'; readonly when: Estimate }
  /** While a breaker is open: a place for one of all nodes that wait. */
  | { readonly kind: 'overflow-place'; readonly when: Estimate }
  /** The mark of another tool is removed from the node. */
  | { readonly kind: 'mark-removed'; readonly mark: Pick<Veto, 'kind' | 'name' | 'owner'> }
  /** The node is unhealthy for as long as a mark may hold it. */
  | { readonly kind: 'veto-maximum'; readonly when: Estimate }
  /** The node is unhealthy for as long as mode Detect keeps its pods. */
  | { readonly kind: 'evict-after'; readonly when: Estimate }
  | { readonly kind: 'cooldown-ends'; readonly when: Estimate }
  /** A PodDisruptionBudget, or whatever refuses the eviction, allows it. */
  | { readonly kind: 'eviction-allowed' }
  | { readonly kind: 'refusal-timeout'; readonly when: Estimate }
  /** The responder removes the pod, completes, or sends no heartbeat for so long that another one's turn comes. */
  | { readonly kind: 'responder-ends' }
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
export type ExplainedHold = { readonly unblockedBy: readonly Unblocker[] } & (
  | FiguredHold
  /** Any other kind of the table of holds: the reason in its words. */
  | { readonly kind: PlainHoldKind; readonly words: string }
);

/** A hold of which the pages show more than the words of the table. */
type FiguredHold =
  | { readonly kind: 'not-leader' }
  | { readonly kind: 'full-disruption' }
  /** Predicted actions are decided, and not carried out. */
  | { readonly kind: 'shadow' }
  | { readonly kind: 'stale'; readonly reason: string }
  | { readonly kind: 'stale-pods' }
  /** It is not known yet whether most nodes failed with it. */
  | { readonly kind: 'unclassified' }
  /** It is not known yet whether these nodes, so many, failed with this one. */
  | { readonly kind: 'awaited'; readonly nodes: readonly string[]; readonly count: number }
  /** Predicted actions are decided, and not carried out. */
  | { readonly kind: 'observed'; readonly policy: string }
  | { readonly kind: 'paused'; readonly source: HoldSource }
  /** A mark of another tool on the node: no NoExecute taint and no eviction for its health. */
  | ({ readonly kind: 'veto' } & { readonly policy: string; readonly mark: Pick<Veto, 'kind' | 'name' | 'owner'> })
  /** Mode Detect: no NoExecute taint and no eviction for the health of the node. */
  | { readonly kind: 'detect-only'; readonly policy: string }
  /** Mode Detect with `markPods: false`. */
  | { readonly kind: 'pods-kept-ready'; readonly policy: string }
  /** NoExecute taints and evictions for the health of the node only. Null: it is over, and the node is not counted yet. */
  | { readonly kind: 'maintenance'; readonly policy: string | null }
  /** No NoExecute taint and no eviction for the health of the nodes of this policy. */
  | ({ readonly kind: 'breaker'; readonly policy: string } & BreakerCount)
  /** As many nodes of the policy are being emptied as may be at once. */
  | { readonly kind: 'concurrency'; readonly policy: string; readonly max: number }
  /** The Eviction API does not evict the pod. */
  | { readonly kind: 'refused'; readonly why: WhyNotEvicted; readonly message: string; readonly since: Past }
  /** The pod waits for a responder of this Eviction, `namespace/name`. */
  | { readonly kind: 'responder'; readonly name: string; readonly eviction: string; readonly heartbeat: Past }
  /** The pod waits for a token of its policy. */
  | { readonly kind: 'deletion-rate'; readonly policy: string; readonly ratePerSecond: number; readonly ahead: number }
  /** The node looks silent in the caches, and its lease could not be read, or is missing as most others are. */
  | { readonly kind: 'unconfirmed' }
  /** The controller does not run in this process. */
  | { readonly kind: 'not-run'; readonly part: ControllerName }
  /** The node of the pod could not be read. */
  | { readonly kind: 'node-unanswered'; readonly node: string }
  | { readonly kind: 'outage'; readonly why: OutageArithmetic }
  | { readonly kind: 'zone-stopped'; readonly zone: string; readonly rule: RateRule };

export type FiguredHoldKind = Extract<HoldKind, FiguredHold['kind']>;
export type PlainHoldKind = Exclude<HoldKind, FiguredHoldKind>;

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
  /** `stuck`: by this policy it terminates for too long, and its node is not Ready. `overdue`: the end of its grace period. */
  | { readonly why: 'already-terminating'; readonly stuck?: { readonly policy: string; readonly overdue: Past } }
  /** The controller that evicts pods does not run in this process. */
  | { readonly why: 'not-run'; readonly part: ControllerName }
  | { readonly why: 'not-bound' }
  /** The node of the pod does not exist, so neither a taint nor the queue evicts the pod. */
  | { readonly why: 'node-unknown' }
  /** Eviction mode: the DaemonSet would create it again on the same node. */
  | { readonly why: 'daemon-set'; readonly daemonSet: string }
  /** The policy keeps completed pods. */
  | { readonly why: 'completed'; readonly policy: string }
  /** Its label asks for it, and its policy permits it. */
  | {
      readonly why: 'autonomous';
      readonly policy: string;
      /** Whose label asks for it; `unknown`: the labels of namespaces are not known, and that of its own may. */
      readonly asks: 'pod' | 'namespace' | 'unknown';
      readonly until: Estimate | null;
    }
  | { readonly why: 'tolerates-forever' }
  /** A taint counts for it since a moment ago, as where what kept it has ended: its next evaluation schedules the eviction. */
  | { readonly why: 'not-evaluated-yet' }
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
  | ({ readonly kind: 'kept' } & FinishedPodsReport)
  /** The pod was already deleted without a grace period; only its finalizers keep it. */
  | { readonly kind: 'held-by-finalizers' };

/** Which policy applies to a node. `name` is null: the default. */
export interface PolicyOutlook {
  readonly name: string | null;
  readonly mode: PolicyMode;
  /** Policies that claim the node equally, so that none of them applies. */
  readonly conflict: readonly string[];
  /** The policy as an object of the API; absent: it is in the config file, or there is none. */
  readonly object?: string;
  /** Windows of its schedules that have begun; absent: none. */
  readonly windows?: readonly string[];
}

/** A zone's condition with its arithmetic, its rate, and its queue. */
export interface ZoneOutlook {
  readonly zone: string;
  readonly condition: ZoneCondition;
  /** Null until the zone is evaluated for the first time. */
  readonly arithmetic: {
    readonly unready: number;
    readonly size: number;
    readonly share: number;
    readonly unhealthyZoneThreshold: number;
    readonly largeClusterSizeThreshold: number;
    readonly rule: RateRule;
    /** In one line. */
    readonly reading: string;
  } | null;
  readonly ratePerSecond: number;
  readonly queue: {
    readonly waiting: number;
    readonly first: readonly string[];
    readonly tokens: number;
    readonly nextToken: Estimate;
  };
  readonly holds: readonly ExplainedHold[];
}

/** A condition of KEP-5683 that is True on a node. */
export interface LifecycleCondition {
  readonly condition: string;
  /** Null: none is given. */
  readonly reason: string | null;
  /** Null: it has no readable time. */
  readonly since: Past | null;
  /** What it means for the node now; null: no policy of the node lists it. */
  readonly means: SignalMeaning | null;
  /** Since when the node is Unknown, if that is so long that the condition says nothing about it any more. */
  readonly stale?: Past;
}

/** `/explain/nodes/NAME`: the current state of a node, the wanted state, the holds, and the next action with its time. */
export interface NodeOutlook {
  readonly node: string;
  /** Status of the Ready condition, or `missing`. */
  readonly ready: string;
  readonly state: NodeState;
  /** Null, as the next two: not evaluated yet. */
  readonly lastHeartbeat: (Past & { readonly channel: HeartbeatChannel }) | null;
  /** `policy`: the policy that sets it; null: the setting of the controller. */
  readonly grace: {
    readonly seconds: number;
    readonly rule: GraceRule;
    readonly flag: string;
    readonly policy: string | null;
  } | null;
  readonly silence: { readonly silent: boolean; readonly since: Past | null; readonly from: Estimate | null } | null;
  /** Null: there are no policies. */
  readonly policy: PolicyOutlook | null;
  /** Null: no policy or label allows the taint out-of-service, and no record of it exists. */
  readonly outOfService: Exclude<OutOfServiceState, { readonly kind: 'none' }> | null;
  readonly zone: ZoneOutlook;
  /** The zone around its zone, which must allow a NoExecute taint too. */
  readonly outerZone?: ZoneOutlook;
  /** It recovered within the window of its policy, is kept from new pods, or is to be released. */
  readonly flapping?: FlappingReport;
  /** Its heartbeat is overdue, as this policy warns of; `since`: its last one. */
  readonly overdue?: { readonly policy: string; readonly since: Past };
  /** It sends no heartbeats, and its policy asks for other evidence; `doubt`: why it is not silent by that yet. */
  readonly detection?: { readonly policy: string; readonly doubt: DetectionDoubt };
  /** The conditions of KEP-5683 that are True; absent: none. */
  readonly lifecycle?: readonly LifecycleCondition[];
  /** Whether the node counts for the disruption state of its zone. */
  readonly counted: boolean;
  /** `wanted` is null where this process does not manage taints. */
  readonly taints: { readonly carried: readonly Taint[]; readonly wanted: readonly Taint[] | null };
  /** Null: not queued. */
  readonly queue: { readonly ahead: number; readonly waiting: number } | null;
  readonly holds: readonly ExplainedHold[];
  readonly next: NextAction;
  /** Null: it has the taint, or there is no cause, as in eviction mode. */
  readonly noExecuteTaint: { readonly key: string; readonly given: Given; readonly when: Estimate } | null;
  /** Null in taint mode, and where this process does not evict nodes. */
  readonly eviction: {
    readonly mark: EvictionMark;
    /** When its timeout ends; null if it is or was queued, or was not evaluated yet. */
    readonly due: Estimate | null;
    /** Time at which the node is served and its pods are deleted. Null: it is evicted. */
    readonly slot: Estimate | null;
    readonly given: Given;
  } | null;
  readonly evictions: {
    readonly scheduled: number;
    readonly predicted: number;
    /** Eviction mode: pods of DaemonSets, which stay. */
    readonly spared: number;
    readonly first: readonly EvictionOutlook[];
  };
  /** Malformed fields of the node and its lease: field, value, accepted values. */
  readonly problems: readonly string[];
  readonly history: readonly HistoryLine[];
}

/** Evictions of lifecycle.k8s.io of a pod, the first of them. */
export interface RequestedEvictions {
  readonly evictions: readonly RequestedEviction[];
  /** Why they cannot be read; null: they can. */
  readonly problem: string | null;
}

export interface RequestedEviction {
  /** `namespace/name`. */
  readonly eviction: string;
  /** The first names of those that request it. */
  readonly requesters: readonly string[];
  /** Number of all of them. */
  readonly requesterCount: number;
  /** The active one; null: none. */
  readonly responder: { readonly name: string; readonly heartbeat: Past | null; readonly completed: boolean } | null;
}

/** `/explain/pods/NAMESPACE/NAME`: the countdowns of a pod, and when it will be evicted or garbage-collected. */
export interface PodOutlook {
  /** `namespace/name`. */
  readonly pod: string;
  /** Null: not bound. */
  readonly node: string | null;
  readonly phase: string;
  readonly terminating: boolean;
  readonly taints: readonly {
    readonly taint: Taint;
    readonly since: Past;
    /** The matching toleration; null: the taint is not tolerated. */
    readonly toleration: Toleration | null;
    /** Null: without a time limit. */
    readonly toleratedSeconds: number | null;
    /** Null: never. */
    readonly ends: Estimate | null;
  }[];
  /** Null: see `stays`. */
  readonly eviction: EvictionOutlook | null;
  /** The eviction was scheduled for an earlier time than any countdown: the toleration has become longer since. */
  readonly keepsEarlierDeadline: boolean;
  /** Null: it is expected to be evicted. */
  readonly stays: StayOutlook | null;
  /** Null: no rule applies, or the pod garbage collector does not run in this process. */
  readonly collection: CollectionOutlook | null;
  /** Only with --wait-for-eviction-responders. */
  readonly requested?: RequestedEvictions;
  readonly holds: readonly ExplainedHold[];
  readonly next: NextAction;
  /** Malformed fields of the pod: field, value, accepted values. */
  readonly problems: readonly string[];
  readonly history: readonly HistoryLine[];
  /** History of earlier pods with the name, such as those of a StatefulSet. */
  readonly historyOfFormer: readonly HistoryLine[];
}

/** `/explain/zones`. */
interface ZonesPage {
  readonly zones: readonly ZoneOutlook[];
}

export interface InformerReport extends Pick<InformerStatus, 'state' | 'synced' | 'consecutiveFailures'> {
  readonly name: string;
  readonly objects: number;
  readonly lastFrame: Past | null;
  readonly lastError: string | null;
}

/** Eviction mode: nodes whose timeout has not ended, and evicted nodes. */
interface EvictedNodesReport {
  readonly timed: number;
  readonly evicted: number;
}

export interface FinishedPodsReport {
  /** Number of terminated pods, and how many of them are kept; null keeps all. */
  readonly finished: number;
  readonly threshold: number | null;
  /** How many are kept on each node, and for how long after they completed; absent: all, for ever. */
  readonly perNode?: number;
  readonly ageSeconds?: number;
}

export interface PodGcReport extends FinishedPodsReport {
  readonly nextRound: Estimate;
  /** Number of nodes that pods are bound to and that do not exist. */
  readonly missingNodes: number;
}

/** What a policy does. */
export interface PolicyStatus extends Omit<PolicyCount, 'breaker'> {
  readonly breaker?: BreakerOutlook;
  /** Number of its nodes whose heartbeat is overdue; only with an early warning. */
  readonly overdue?: number;
}

export interface BreakerOutlook extends Omit<BreakerStatus, 'untilMs'> {
  /** Wall time of its end; null: while too many nodes are unhealthy; absent: closed. */
  readonly untilMs?: number | null;
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

/** `/status`: leadership, watches, queues and holds of the controller. */
export interface StatusOutlook {
  readonly at: string;
  /** How pods of a failed node are evicted: by taints that they do not tolerate, or by deletion when the node is served. */
  readonly mode: 'taint' | 'eviction';
  /** Controllers that run in this process; actions of others are not predicted. */
  readonly runs: ControllerSelection;
  readonly leading: boolean;
  /** Shadow mode: nothing is written. */
  readonly shadow: boolean;
  /** Identity of the leader; null: unknown. */
  readonly leader: string | null;
  /** Null: without a config file. */
  readonly configFile: ConfigFileReport | null;
  readonly holds: readonly ExplainedHold[];
  readonly informers: readonly InformerReport[];
  /** Empty without policies. */
  readonly policies: readonly PolicyStatus[];
  /** Absent: policies come from the config file. */
  readonly policyObjects?: PolicyObjectsReport;
  readonly zones: readonly ZoneOutlook[];
  /** Number of nodes in the queues of all zones. */
  readonly waiting: number;
  readonly evictions: { readonly scheduled: number; readonly first: Estimate | null };
  /** Null in taint mode. */
  readonly evictedNodes: EvictedNodesReport | null;
  /** Null: not run by this process. */
  readonly podGc: PodGcReport | null;
  readonly history: readonly HistoryLine[];
}

export interface ListedNode {
  readonly name: string;
  readonly zone: string;
  readonly policy: string | null;
  readonly state: NodeState;
  readonly ready: string;
  /** Beginning of the state, where the API shows it; null: it does not. */
  readonly since: Past | null;
  readonly pods: number;
  readonly holds: readonly ExplainedHold['kind'][];
  readonly next: NextAction;
}

/** `/explain/nodes`. */
export interface NodeList {
  readonly nodes: readonly ListedNode[];
  /** Number of nodes in these states, on all pages. */
  readonly total: number;
  /** The query parameter `continue` of the next page. Null: this is the last one. */
  readonly continue: string | null;
}

export interface ListedEviction {
  /** `namespace/name`. */
  readonly pod: string;
  readonly node: string;
  readonly when: Estimate;
}

/** `/explain/evictions`: the pods that are due first. */
export interface EvictionList {
  readonly evictions: readonly ListedEviction[];
  readonly total: number;
}

/** The pages by their paths. */
export interface Pages {
  readonly '/explain/nodes/NAME': NodeOutlook;
  readonly '/explain/pods/NAMESPACE/NAME': PodOutlook;
  readonly '/explain/zones': ZonesPage;
  readonly '/explain/nodes': NodeList;
  readonly '/explain/evictions': EvictionList;
  readonly '/status': StatusOutlook;
}
