/** What an explanation says, ready for JSON: deterministic values, never prose alone. Times are RFC 3339; null is never. */
import type { Taint } from '../../api/taints.ts';
import type { Toleration } from '../../api/tolerations.ts';
import type { Decision, GraceRule, OutageReckoning, PodGcReason, RateRule } from '../decisions.ts';
import type { ControllerSelection } from '../options.ts';
import type { ConfigFileFacts, EvictedNodesFacts, EvictionMark, HeartbeatChannel, Mode } from './facts.ts';

export interface Past {
  readonly at: string;
  readonly secondsAgo: number;
}

/** When something will happen if nothing else does. `at` and `inSeconds` are null: not while things are as they are. */
export interface Estimate {
  readonly estimate: true;
  readonly at: string | null;
  readonly inSeconds: number | null;
}

/** `nothing-heard`: a heartbeat would prevent it. `nothing-changes`: any change of its zone's or its own state may. */
export type Given = 'nothing-heard' | 'nothing-changes';

/** A part by the name that `--controllers` has for it. */
export type PartName = 'node-lifecycle-controller' | 'taint-eviction-controller' | 'pod-garbage-collector-controller';

/** What would end a hold. */
export type Unblocker =
  | { readonly kind: 'ask-leader'; readonly holder: string | null }
  | { readonly kind: 'contact-with-api' }
  | { readonly kind: 'permission'; readonly needed: string }
  | { readonly kind: 'time'; readonly when: Estimate }
  /** So many nodes of this zone, or of any where it is null, become ready. */
  | { readonly kind: 'nodes-ready'; readonly zone: string | null; readonly count: number }
  | { readonly kind: 'api-answers' }
  | { readonly kind: 'flag'; readonly flag: string; readonly wanted: 'above 0' | 'naming it' | 'left out' };

/** Why something that is wanted does not happen, and what would make it happen: any one of the unblockers. */
export type Hold =
  | { readonly kind: 'not-leader'; readonly unblockedBy: readonly Unblocker[] }
  /** What is foreseen is decided, and not done. */
  | { readonly kind: 'shadow'; readonly unblockedBy: readonly Unblocker[] }
  | { readonly kind: 'blind'; readonly reason: string; readonly unblockedBy: readonly Unblocker[] }
  /** It looks silent by our caches, and the API server could not be asked whether it is. */
  | { readonly kind: 'unconfirmed'; readonly unblockedBy: readonly Unblocker[] }
  /** What only this part foresees or does is nobody's business in this process. */
  | { readonly kind: 'not-run'; readonly part: PartName; readonly unblockedBy: readonly Unblocker[] }
  /** The API server could not be asked whether the pod's node is gone. */
  | { readonly kind: 'node-unanswered'; readonly node: string; readonly unblockedBy: readonly Unblocker[] }
  | { readonly kind: 'every-zone-dark'; readonly unblockedBy: readonly Unblocker[] }
  | { readonly kind: 'outage'; readonly why: OutageReckoning; readonly unblockedBy: readonly Unblocker[] }
  | {
      readonly kind: 'zone-stopped';
      readonly zone: string;
      readonly rule: RateRule;
      readonly unblockedBy: readonly Unblocker[];
    };

export interface ZoneOutlook {
  readonly zone: string;
  readonly condition: string;
  /** Null until the zone is judged for the first time. */
  readonly arithmetic: {
    readonly unready: number;
    readonly size: number;
    readonly share: number;
    readonly unhealthyZoneThreshold: number;
    readonly largeClusterSizeThreshold: number;
    readonly rule: RateRule;
    /** The same in one line. */
    readonly reading: string;
  } | null;
  readonly ratePerSecond: number;
  readonly line: {
    readonly waiting: number;
    readonly first: readonly string[];
    readonly tokens: number;
    readonly nextToken: Estimate;
  };
  readonly holds: readonly Hold[];
}

export interface HistoryLine {
  readonly at: string;
  readonly decision: Decision;
  readonly text: string;
}

export type EvictionCause =
  /** 0 s: not tolerated at all. */
  | { readonly kind: 'taint'; readonly taint: string; readonly toleratedSeconds: number }
  /** Eviction mode: it leaves with all pods of its node. */
  | { readonly kind: 'node-evicted' };

export interface EvictionOutlook {
  readonly pod: string;
  /**
   * `scheduled`: it has an appointment, or its node is evicted already. `predicted`: its node is expected to get the
   * taint, or to be evicted.
   */
  readonly state: 'scheduled' | 'predicted';
  readonly cause: EvictionCause;
  readonly given: Given;
  readonly when: Estimate;
}

export interface NextAction {
  readonly act: 'mark-unknown' | 'change-taints' | 'add-taint' | 'evict-node' | 'evict-pod' | 'collect-pod' | 'none';
  /** What it is about: taints or a pod. */
  readonly subject: string | null;
  readonly given: Given;
  readonly when: Estimate | null;
}

/** Eviction mode: how far a node is on its way to losing its pods. */
export interface NodeEvictionOutlook {
  readonly mark: EvictionMark;
  /** When it gets in its zone's line. Null: it is or was in line, or nobody looked at it yet. */
  readonly due: Estimate | null;
  /** When its turn comes and its pods are deleted. Null: it is evicted. */
  readonly turn: Estimate | null;
  readonly given: Given;
}

export interface NodeOutlook {
  readonly node: string;
  readonly ready: string;
  /** Null: we have not looked at it yet. */
  readonly heard: (Past & { readonly channel: HeartbeatChannel }) | null;
  readonly grace: { readonly seconds: number; readonly rule: GraceRule; readonly flag: string } | null;
  readonly silence: { readonly silent: boolean; readonly since: Past | null; readonly from: Estimate | null } | null;
  readonly zone: ZoneOutlook;
  /** Does it count in its zone's arithmetic? */
  readonly counted: boolean;
  /** `wanted` is null where nobody in this process gives or takes taints. */
  readonly taints: { readonly carried: readonly Taint[]; readonly wanted: readonly Taint[] | null };
  /** Null: it does not wait for a turn. */
  readonly line: { readonly ahead: number; readonly waiting: number } | null;
  readonly holds: readonly Hold[];
  readonly next: NextAction;
  /** Null: it has it, or nothing points to it, as in eviction mode. */
  readonly noExecuteTaint: { readonly key: string; readonly given: Given; readonly when: Estimate } | null;
  /** Null in taint mode, and where nobody in this process evicts nodes. */
  readonly eviction: NodeEvictionOutlook | null;
  readonly evictions: {
    readonly scheduled: number;
    readonly predicted: number;
    /** Eviction mode: pods of DaemonSets, which stay. */
    readonly spared: number;
    readonly first: readonly EvictionOutlook[];
  };
  /** What was malformed about it, and its lease's: field, what was there, what is accepted. */
  readonly flaws: readonly string[];
  readonly history: readonly HistoryLine[];
}

export interface Patience {
  readonly taint: Taint;
  readonly since: Past;
  /** The toleration that decides; null: it does not tolerate the taint. */
  readonly toleration: Toleration | null;
  /** Null: for ever. */
  readonly toleratedSeconds: number | null;
  /** Null: never. */
  readonly ends: Estimate | null;
}

/** Why a pod is not expected to be evicted. */
export type StayOutlook =
  | { readonly why: 'already-terminating' }
  /** Nobody in this process evicts pods. */
  | { readonly why: 'not-run'; readonly part: PartName }
  | { readonly why: 'not-bound' }
  /** Its node is not known, so neither a taint nor a turn of its node can send it away. */
  | { readonly why: 'node-unknown' }
  /** Eviction mode: the DaemonSet would put it back on the same node. */
  | { readonly why: 'daemon-set'; readonly daemonSet: string }
  | { readonly why: 'tolerates-for-ever' }
  | { readonly why: 'nothing-points-to-it' };

/** What the pod garbage collector will do about a pod, or why it does nothing. */
export type CollectionOutlook =
  | {
      readonly kind: 'expected';
      readonly why: PodGcReason;
      /** Until then its missing node may turn up, and after that the API server is asked for it. Null: not missing. */
      readonly quarantineEnds: Estimate | null;
      readonly when: Estimate;
      /** What would prevent it. Null: nothing that we know of. */
      readonly unless: 'node-known-again' | 'node-back-in-service' | 'fewer-finished-pods' | null;
    }
  /** So many pods have finished, and this one is not among those too many; a threshold of null keeps all. */
  | { readonly kind: 'kept'; readonly finished: number; readonly threshold: number | null }
  /** It was deleted without grace already: only whoever set its finalizers can end it. */
  | { readonly kind: 'held-by-finalizers' };

export interface PodOutlook {
  readonly pod: string;
  readonly node: string | null;
  readonly phase: string;
  readonly terminating: boolean;
  readonly taints: readonly Patience[];
  /** Null: `stays` says why. */
  readonly eviction: EvictionOutlook | null;
  /** Null: it is expected to be evicted. */
  readonly stays: StayOutlook | null;
  /** Null: it falls under no rule, or nobody in this process collects pods. */
  readonly collection: CollectionOutlook | null;
  readonly holds: readonly Hold[];
  readonly next: NextAction;
  /** What was malformed about it: field, what was there, what is accepted. */
  readonly flaws: readonly string[];
  readonly history: readonly HistoryLine[];
}

export interface InformerOutlook {
  readonly name: string;
  readonly state: string;
  readonly synced: boolean;
  readonly objects: number;
  readonly lastFrame: Past | null;
  readonly consecutiveFailures: number;
  readonly lastError: string | null;
}

/** The pod garbage collector at a glance. */
export interface PodGcOutlook {
  /** Pods that have finished, and how many of them are kept; null keeps all. */
  readonly finished: number;
  readonly threshold: number | null;
  readonly nextRound: Estimate;
  /** Nodes that pods are bound to and that are not known. */
  readonly missingNodes: number;
}

export interface StatusOutlook {
  /** Null: settings come from flags alone. */
  readonly configFile: ConfigFileFacts | null;
  readonly at: string;
  readonly mode: Mode;
  /** Which of our parts run in this process. */
  readonly runs: ControllerSelection;
  readonly leading: boolean;
  /** Nothing is written. */
  readonly shadow: boolean;
  readonly leader: string | null;
  readonly holds: readonly Hold[];
  readonly informers: readonly InformerOutlook[];
  readonly zones: readonly ZoneOutlook[];
  readonly waiting: number;
  readonly evictions: { readonly scheduled: number; readonly first: Estimate | null };
  /** Eviction mode: nodes whose time is not up yet, and nodes whose pods were sent away. Null in taint mode. */
  readonly evictedNodes: EvictedNodesFacts | null;
  /** Null: not run by this process. */
  readonly podGc: PodGcOutlook | null;
  readonly history: readonly HistoryLine[];
}
