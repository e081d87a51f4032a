/** What an explanation says, ready for JSON: deterministic values, never prose alone. Times are RFC 3339; null is never. */
import type { Taint } from '../../api/taints.ts';
import type { Toleration } from '../../api/tolerations.ts';
import type { Decision, GraceRule, OutageReckoning, RateRule } from '../decisions.ts';
import type { HeartbeatChannel } from './facts.ts';

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

/** What would end a hold. */
export type Unblocker =
  | { readonly kind: 'ask-leader'; readonly holder: string | null }
  | { readonly kind: 'contact-with-api' }
  | { readonly kind: 'permission'; readonly needed: string }
  | { readonly kind: 'time'; readonly when: Estimate }
  /** So many nodes of this zone, or of any where it is null, become ready. */
  | { readonly kind: 'nodes-ready'; readonly zone: string | null; readonly count: number }
  | { readonly kind: 'flag'; readonly flag: string; readonly wanted: 'above 0' };

/** Why something that is wanted does not happen, and what would make it happen: any one of the unblockers. */
export type Hold =
  | { readonly kind: 'not-leader'; readonly unblockedBy: readonly Unblocker[] }
  | { readonly kind: 'blind'; readonly reason: string; readonly unblockedBy: readonly Unblocker[] }
  /** It looks silent by our caches, and the API server could not be asked whether it is. */
  | { readonly kind: 'unconfirmed'; readonly unblockedBy: readonly Unblocker[] }
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

export interface EvictionOutlook {
  readonly pod: string;
  /** `scheduled`: there is an appointment. `predicted`: its node is expected to get the taint. */
  readonly state: 'scheduled' | 'predicted';
  readonly taint: string;
  readonly toleratedSeconds: number;
  readonly when: Estimate;
}

export interface NextAction {
  readonly act: 'mark-unknown' | 'change-taints' | 'add-taint' | 'evict-pod' | 'none';
  /** What it is about: taints or a pod. */
  readonly subject: string | null;
  /** `nothing-heard`: a heartbeat would prevent it. `nothing-changes`: any change of its zone's or its own state may. */
  readonly given: 'nothing-heard' | 'nothing-changes';
  readonly when: Estimate | null;
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
  readonly taints: { readonly carried: readonly Taint[]; readonly wanted: readonly Taint[] };
  /** Null: it does not wait for a NoExecute taint. */
  readonly line: { readonly ahead: number; readonly waiting: number } | null;
  readonly holds: readonly Hold[];
  readonly next: NextAction;
  /** Null: it has it, or nothing points to it. */
  readonly noExecuteTaint: { readonly key: string; readonly when: Estimate } | null;
  readonly evictions: {
    readonly scheduled: number;
    readonly predicted: number;
    readonly first: readonly EvictionOutlook[];
  };
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

export interface PodOutlook {
  readonly pod: string;
  readonly node: string | null;
  readonly phase: string;
  readonly terminating: boolean;
  readonly taints: readonly Patience[];
  /** Null: nothing points to it. */
  readonly eviction: EvictionOutlook | null;
  readonly holds: readonly Hold[];
  readonly next: NextAction;
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

export interface StatusOutlook {
  readonly at: string;
  readonly leading: boolean;
  readonly leader: string | null;
  readonly holds: readonly Hold[];
  readonly informers: readonly InformerOutlook[];
  readonly zones: readonly ZoneOutlook[];
  readonly waiting: number;
  readonly evictions: { readonly scheduled: number; readonly first: Estimate | null };
  readonly history: readonly HistoryLine[];
}
