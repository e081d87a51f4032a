/** What an explanation is made of: the state of the stages at one moment, as values. Times are on the monotonic clock. */
import type { Taint } from '../../api/taints.ts';
import type { Toleration } from '../../api/tolerations.ts';
import type { ZoneCondition } from '../../api/zone.ts';
import type {
  Decision,
  GraceRule,
  OutageReckoning,
  PodGcReason,
  ZoneReckoning,
  UnconfirmedReason,
  SettingChange,
} from '../decisions.ts';
import type { ControllerSelection } from '../options.ts';

/** The same moment on both clocks, so that one can be told in terms of the other. */
export interface Moment {
  readonly monotonicMs: number;
  readonly wallMs: number;
}

/** What holds for all nodes at once. */
export interface Circumstances {
  readonly now: Moment;
  readonly leading: boolean;
  /** Whatever is decided, nothing is written. */
  readonly shadow?: boolean;
  /** Identity of the leader as far as we know. */
  readonly holder: string | undefined;
  readonly mode: Mode;
  /** Which of our parts run in this process: of what the others do nothing is foreseen. */
  readonly runs: ControllerSelection;
  /** Why we do not trust what we see; undefined while we see. */
  readonly blind: string | undefined;
  readonly everyZoneDark: boolean;
  /** What is held back because most nodes of several zones fell silent together. */
  readonly outageHold: OutageHoldFacts | undefined;
}

/** What sends the pods of a failed node away: taints that they do not tolerate, or their deletion with the node's turn. */
export type Mode = 'taint' | 'eviction';

export interface OutageHoldFacts {
  readonly why: OutageReckoning;
  readonly untilMs: number;
  /** Enough nodes are heard again; the rest gets until then to follow. */
  readonly recovering: boolean;
}

/** The nodes of one zone that wait for their turn, and what rations it. */
export interface LineFacts {
  /** In the order in which they are served. */
  readonly nodes: readonly string[];
  readonly tokens: number;
  /** Infinity while stopped. */
  readonly nextTokenAtMs: number;
  readonly ratePerSecond: number;
}

export interface ZoneFacts {
  readonly zone: string;
  readonly condition: ZoneCondition;
  /** Undefined until the zone is judged for the first time; a standby judges none. */
  readonly reckoning: ZoneReckoning | undefined;
  readonly line: LineFacts;
  /** How many of its unready nodes would have to become ready for the zone to be normal; undefined if it is. */
  readonly recoveriesToNormal: number | undefined;
}

/** `outage-end`: nothing was heard, but after an outage everybody counts as heard. */
export type HeartbeatChannel = 'lease' | 'status' | 'creation' | 'outage-end';

export interface HealthFacts {
  readonly heardAtMs: number;
  readonly channel: HeartbeatChannel;
  readonly graceMs: number;
  readonly rule: GraceRule;
  readonly silent: boolean;
  /** The first moment at which it is silent, or was; if we go on seeing and hear nothing. */
  readonly silentFromMs: number;
}

export interface TaintFacts {
  readonly carried: readonly Taint[];
  /** Of the taints that are ours: what the node should carry now. */
  readonly wanted: readonly Taint[];
  /** Of the taints it carries: what is ours and should go. */
  readonly surplus: readonly Taint[];
  /** The NoExecute key that it should have and that only its turn in line can give it. */
  readonly rationedKey: string | undefined;
}

export interface AppointmentFacts {
  readonly atMs: number;
  readonly taint: string;
  readonly toleratedSeconds: number;
}

/** `to-be-evicted`: in its zone's line. `evicted`: its pods left, and whoever lands on it leaves too, until it is Ready. */
export type EvictionMark = 'unmarked' | 'to-be-evicted' | 'evicted';

/** Eviction mode: how far a node is on its way to losing its pods. */
export interface NodeEvictionFacts {
  readonly mark: EvictionMark;
  /** When its time is up, if it goes on saying False or else is never heard again; undefined before we looked at it. */
  readonly dueAtMs: number | undefined;
  /** When others, whose time will be up before, get in line ahead of it. */
  readonly beforeMs: readonly number[];
}

/** A pod as far as its eviction goes. */
export interface PodBrief {
  /** `namespace/name`. */
  readonly pod: string;
  readonly tolerations: readonly Toleration[];
  readonly terminating: boolean;
  readonly appointment: AppointmentFacts | undefined;
  /** Eviction mode: it is spared, because this DaemonSet would put it back on the same node. */
  readonly daemonSet: string | undefined;
}

/** A rule of the pod garbage collector that a pod falls under, and the round that will act on it. */
export interface ExpectedCollection {
  readonly why: PodGcReason;
  readonly atMs: number;
  /** Until then its missing node may turn up; undefined where its node is not missing. */
  readonly quarantineEndsMs: number | undefined;
}

/** A pod as far as the pod garbage collector goes. */
export interface CollectionFacts {
  /** In the order in which a round looks at its rules. */
  readonly expected: readonly ExpectedCollection[];
  /** It has finished: so many have, and so many are kept; 0 or less keeps all. Undefined while it has not. */
  readonly finished: FinishedFacts | undefined;
  /** It was deleted without grace and only its finalizers keep it: nobody else can do anything about it. */
  readonly heldByFinalizers: boolean;
  /** Why the API server could not be asked about its missing node; undefined if it could, or was not yet. */
  readonly nodeUnanswered: UnconfirmedReason | undefined;
}

export interface FinishedFacts {
  readonly finished: number;
  readonly threshold: number;
}

export interface HistoryFact {
  /** Wall time. */
  readonly atMs: number;
  readonly decision: Decision;
  readonly text: string;
}

export interface NodeFacts {
  readonly node: string;
  /** Status of the Ready condition, or `missing`. */
  readonly ready: string;
  /** Does it count in its zone's arithmetic? */
  readonly counted: boolean;
  readonly health: HealthFacts | undefined;
  readonly taints: TaintFacts;
  /** Undefined in taint mode. */
  readonly eviction: NodeEvictionFacts | undefined;
  readonly zone: ZoneFacts;
  /** Turns a second in its zone if this node, and nobody else, fell silent. */
  readonly ratePerSecondIfSilent: number;
  readonly pods: readonly PodBrief[];
  /** What was malformed about it, and its lease's: field, what was there, what is accepted. */
  readonly flaws: readonly string[];
  readonly history: readonly HistoryFact[];
}

/** A NoExecute taint and since when its countdown runs. */
export interface RunningTaintFacts {
  readonly taint: Taint;
  readonly sinceMs: number;
}

export interface PodFacts extends PodBrief {
  /** Empty while the pod is not bound. */
  readonly nodeName: string;
  readonly phase: string;
  readonly running: readonly RunningTaintFacts[];
  /** Undefined when its node is not known. */
  readonly node: NodeFacts | undefined;
  /** Eviction mode: its node is not known, but still waits in the line of this zone, and its turn will come. */
  readonly lineOfLostNode: ZoneFacts | undefined;
  readonly collection: CollectionFacts;
  /** What was malformed about it: field, what was there, what is accepted. */
  readonly flaws: readonly string[];
  readonly history: readonly HistoryFact[];
}

export interface InformerFacts {
  readonly name: string;
  readonly state: string;
  readonly synced: boolean;
  readonly objects: number;
  readonly lastFrameAtMs: number | undefined;
  readonly consecutiveFailures: number;
  readonly lastError: string | undefined;
}

/** Eviction mode: nodes whose time is not up yet, and nodes whose pods were sent away. */
export interface EvictedNodesFacts {
  readonly timed: number;
  readonly evicted: number;
}

export interface PodGcFacts extends FinishedFacts {
  readonly nextRoundAtMs: number;
  /** Nodes that pods are bound to and that are not known. */
  readonly missingNodes: number;
}

/** How the file that settings come from and what is in force differ. */
export interface ConfigFileFacts {
  readonly path: string;
  /** Why it is refused, and older settings are in force; empty when it is not. */
  readonly problems: readonly string[];
  /** In the file, and not in force before a restart. */
  readonly waiting: readonly SettingChange[];
}

export interface StatusFacts {
  /** Undefined without a file. */
  readonly configFile: ConfigFileFacts | undefined;
  readonly informers: readonly InformerFacts[];
  readonly zones: readonly ZoneFacts[];
  readonly evictions: { readonly scheduled: number; readonly firstAtMs: number | undefined };
  /** Undefined in taint mode. */
  readonly evictedNodes: EvictedNodesFacts | undefined;
  /** Undefined where it does not run. */
  readonly podGc: PodGcFacts | undefined;
  readonly history: readonly HistoryFact[];
}
