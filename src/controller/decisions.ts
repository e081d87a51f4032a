/** What was decided and why, as small values: logged, counted, kept, and told to people. Never a string built at the end. */
import type { ApiReason } from '../api/api-error.ts';
import type { ZoneCondition } from '../api/zone.ts';

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

/** Why an eviction is not, or no longer, going to happen. */
export type StayReason =
  | 'taint-gone'
  | 'tolerates-for-ever'
  | 'pod-gone'
  | 'pod-moved'
  | 'node-gone'
  | 'already-terminating';

export type Decision =
  | { readonly kind: 'node-registered'; readonly node: string; readonly zone: string }
  | { readonly kind: 'node-removed'; readonly node: string }
  | {
      readonly kind: 'node-silent';
      readonly node: string;
      readonly silentMs: number;
      readonly graceMs: number;
      readonly rule: GraceRule;
    }
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
  | { readonly kind: 'eviction-held'; readonly pod: string; readonly node: string; readonly why: 'every-zone-dark' }
  | {
      readonly kind: 'pod-evicted';
      readonly pod: string;
      readonly node: string;
      readonly taint: string;
      readonly toleratedSeconds: number;
    }
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

/** Takes note of a decision. Must not throw. */
export interface DecisionSink {
  note(decision: Decision): void;
}
