/** What was decided and why, as small values: logged, counted, kept, and told to people. Never a string built at the end. */
import type { ApiReason } from '../api/api-error.ts';
import type { Labels } from '../api/topology.ts';
import type { ZoneCondition } from '../api/zone.ts';
import type { BlindReason } from '../ports/sight.ts';

/** Which rule set the grace period in force. */
export type GraceRule = 'monitor' | 'startup';

/** The arithmetic behind a zone's condition and rate. */
export interface ZoneReckoning {
  readonly ready: number;
  readonly unready: number;
  readonly unhealthyZoneThreshold: number;
  readonly largeClusterSizeThreshold: number;
  readonly rule: RateRule;
}

export type RateRule = 'normal' | 'large-zone-disrupted' | 'small-zone-disrupted' | 'zone-dark' | 'every-zone-dark';

/** What silence is taken for before anybody acts on it. ObserverStale: it is we who do not hear. */
export type Outage = SilenceOutage | 'ObserverStale';
export type SilenceOutage = 'NodeFailure' | 'ZoneFailure' | 'ControlPlanePathFailure';

/** The arithmetic behind the name of an outage. */
export interface OutageReckoning {
  readonly outage: SilenceOutage;
  /** Of the node by which it was named. */
  readonly zone: string;
  /** Nodes that fell silent within the window, of those that were heard until then: of its zone, or of all where it is not the zone's. */
  readonly together: number;
  readonly of: number;
  /** Zones most of whose nodes did. */
  readonly zonesStruck: number;
  /** Share of those heard until then from which it is most. */
  readonly shareMin: number;
  readonly zones: number;
  readonly windowMs: number;
}

/** Why an eviction is not, or no longer, going to happen. */
export type StayReason =
  | 'taint-gone'
  | 'tolerates-for-ever'
  | 'pod-gone'
  | 'pod-moved'
  | 'node-gone'
  | 'already-terminating';

/** Which rule of the garbage collector a pod fell under. The words are those of its metrics. */
export type PodGcReason = 'terminated' | 'out-of-service' | 'orphaned' | 'unscheduled';

/** Why a pod leaves in eviction mode: its node's turn came, it arrived later, or its node no longer exists. */
export type DepartureReason = 'node-evicted' | 'landed-on-evicted-node' | 'node-gone';

/** Why the API server could not be asked for the lease of a node that looks silent. */
export type UnconfirmedReason = 'api-not-answering' | 'not-permitted';

/** Whether a node that was silent had been down meanwhile, by its boot ID. `unknown`: there is none to compare. */
export type BootEvidence = 'same' | 'changed' | 'unknown';

/** Why nobody is evicted on account of a node's health. */
/** `node-is-ready`: the taint is still there, and about to be taken back. */
export type EvictionHold = 'every-zone-dark' | 'blind' | 'node-is-ready';

/** A setting that is another now, as people write it. */
export interface SettingChange {
  readonly setting: string;
  readonly from: string;
  readonly to: string;
}

export type Decision =
  | { readonly kind: 'settings-changed'; readonly changes: readonly SettingChange[] }
  | { readonly kind: 'node-registered'; readonly node: string; readonly zone: string }
  | { readonly kind: 'node-removed'; readonly node: string }
  | {
      readonly kind: 'node-silent';
      readonly node: string;
      readonly silentMs: number;
      readonly graceMs: number;
      readonly rule: GraceRule;
      readonly outage: SilenceOutage;
    }
  | { readonly kind: 'outage-named'; readonly why: OutageReckoning }
  /** Pods stay ready and nobody gets a NoExecute taint, for so long at the most. */
  | {
      readonly kind: 'acts-held';
      readonly outage: SilenceOutage;
      readonly holdMs: number;
      readonly why: OutageReckoning;
    }
  | {
      readonly kind: 'acts-resumed';
      readonly outage: SilenceOutage;
      readonly heldMs: number;
      readonly ending: 'recovered' | 'expired';
    }
  /** It looked silent, and the API server itself said otherwise, or could not be asked, or does not let us ask. */
  | { readonly kind: 'verdict-held'; readonly node: string; readonly why: 'lease-renewed' | UnconfirmedReason }
  | { readonly kind: 'sight-lost'; readonly why: BlindReason }
  | { readonly kind: 'sight-regained'; readonly blindMs: number }
  /** It was silent, and is heard again. */
  | { readonly kind: 'node-recovered'; readonly node: string; readonly boot: BootEvidence }
  | { readonly kind: 'node-ready'; readonly node: string; readonly was: string }
  | { readonly kind: 'node-not-ready'; readonly node: string; readonly reason: string }
  | {
      readonly kind: 'zone-changed';
      readonly zone: string;
      readonly from: ZoneCondition;
      readonly to: ZoneCondition;
      readonly ratePerSecond: number;
      readonly why: ZoneReckoning;
    }
  | { readonly kind: 'outage-entered'; readonly zones: number }
  | { readonly kind: 'outage-left'; readonly zones: number }
  | {
      readonly kind: 'taint-queued';
      readonly node: string;
      readonly zone: string;
      readonly key: string;
      readonly ahead: number;
    }
  | {
      readonly kind: 'taint-withdrawn';
      readonly node: string;
      readonly why: 'node-ready' | 'node-gone' | 'zone-left' | 'outage';
    }
  | { readonly kind: 'taints-held'; readonly zone: string; readonly waiting: number; readonly why: ZoneReckoning }
  | {
      readonly kind: 'taints-changed';
      readonly node: string;
      readonly added: readonly string[];
      readonly removed: readonly string[];
      readonly why: TaintReason;
    }
  | { readonly kind: 'labels-set'; readonly node: string; readonly labels: Labels }
  | { readonly kind: 'pod-marked-not-ready'; readonly pod: string; readonly node: string }
  | {
      readonly kind: 'eviction-scheduled';
      readonly pod: string;
      readonly node: string;
      readonly taint: string;
      readonly toleratedSeconds: number;
      readonly inMs: number;
    }
  | { readonly kind: 'eviction-cancelled'; readonly pod: string; readonly node: string; readonly why: StayReason }
  | { readonly kind: 'eviction-held'; readonly pod: string; readonly node: string; readonly why: EvictionHold }
  | {
      readonly kind: 'pod-evicted';
      readonly pod: string;
      readonly node: string;
      readonly taint: string;
      readonly toleratedSeconds: number;
    }
  | { readonly kind: 'pod-collected'; readonly pod: string; readonly node: string; readonly why: PodGcReason }
  | { readonly kind: 'terminated-pods-surplus'; readonly terminated: number; readonly threshold: number }
  | { readonly kind: 'node-missing'; readonly node: string; readonly pods: number; readonly quarantineMs: number }
  | {
      readonly kind: 'orphans-kept';
      readonly node: string;
      readonly why: 'node-back' | 'node-found' | UnconfirmedReason;
    }
  | {
      readonly kind: 'node-eviction-scheduled';
      readonly node: string;
      readonly ready: string;
      readonly inMs: number;
      readonly timeoutMs: number;
    }
  | {
      readonly kind: 'node-eviction-queued';
      readonly node: string;
      readonly zone: string;
      readonly ready: string;
      readonly unreadyMs: number;
      readonly timeoutMs: number;
      readonly ahead: number;
    }
  | {
      readonly kind: 'node-eviction-withdrawn';
      readonly node: string;
      /** `not-due`: something was heard of it, and its time starts anew. */
      readonly why: 'node-ready' | 'not-due' | 'node-gone' | 'outage';
    }
  | {
      readonly kind: 'node-evicted';
      readonly node: string;
      readonly zone: string;
      /** Its pods, by what becomes of them. */
      readonly leaving: number;
      readonly spared: number;
      readonly terminating: number;
    }
  | { readonly kind: 'pod-spared'; readonly pod: string; readonly node: string; readonly daemonSet: string }
  | {
      readonly kind: 'pod-evicted-with-node';
      readonly pod: string;
      readonly node: string;
      readonly why: DepartureReason;
    }
  /** A fault of ours: looking at it threw. It is tried again, and does not keep anybody else waiting. */
  | { readonly kind: 'look-failed'; readonly subject: string; readonly stage: string; readonly message: string }
  | {
      readonly kind: 'write-failed';
      readonly subject: string;
      readonly write: string;
      readonly reason: ApiReason;
    };

/** Why a node's taints were changed. */
export type TaintReason =
  | 'conditions'
  | 'node-ready'
  | 'node-silent'
  | 'node-not-ready'
  | 'other-key-wanted'
  | 'outage';

/** What a stage notes when a look of its own threw. */
export function lookFailed(stage: string, subject: string, error: unknown): Decision {
  return {
    kind: 'look-failed',
    subject,
    stage,
    message: error instanceof Error ? (error.stack ?? error.message) : String(error),
  };
}

/** Takes note of a decision. Must not throw. */
export interface DecisionSink {
  note(decision: Decision): void;
}
