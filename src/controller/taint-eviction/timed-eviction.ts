import type { EvictionRefusal, FailureReason } from '../model/commands.ts';
import type { EvictionHold } from '../model/decisions.ts';
import type { AskedTime } from './asked-time.ts';
import type { TaintKind } from './decide-hold-expiry.ts';
import type { EvictAt } from './decide-eviction.ts';
import type { Hold } from './extend-hold.ts';

/** The Eviction API did not evict a pod. Times are on the monotonic clock. */
export interface RefusedEviction {
  readonly why: EvictionRefusal;
  /** Message of the API server. */
  readonly message: string;
  /** The first such answer. */
  readonly sinceMs: number;
  readonly retryAtMs: number;
  /** Number of such answers. */
  readonly requests: number;
}

/** Requests to the Eviction API that failed in a row, without an answer about the pod. Times are on the monotonic clock. */
interface FailedEviction {
  /** Of the last one. */
  readonly reason: FailureReason;
  /** The first of them. */
  readonly sinceMs: number;
  readonly retryAtMs: number;
  readonly requests: number;
}

/** A pod that is to be deleted at its deadline. Created from current state, and replaced when the deadline changes. */
export interface TimedEviction {
  readonly uid: string;
  readonly node: string;
  /** When the pod was bound to the node, on the monotonic clock. */
  readonly boundMs: number;
  /** The pod's resourceVersion when its eviction was first scheduled. */
  readonly resourceVersion: string;
  readonly evictAt: EvictAt;
  /** The newest version of the pod could not be decoded: its deadline is that of an earlier one, until it can. */
  isProvisional: boolean;
  /** The Event was recorded: a retry does not repeat it. */
  announced: boolean;
  /** A request to remove the pod is under way. */
  isSending?: boolean;
  /** Undefined while no hold applies. */
  hold?: Hold | undefined;
  /** Reason that does not hold the deletion until a time for a taint of this kind, because the node was read live. */
  released?: { readonly why: EvictionHold; readonly kind: TaintKind; readonly untilMs: number } | undefined;
  /** How long its budget could be asked. */
  asked: AskedTime;
  /** Undefined while the Eviction API has not refused the pod. */
  refused?: RefusedEviction | undefined;
  /** Undefined while its last request to the Eviction API did not fail. */
  failed?: FailedEviction | undefined;
  /** Requests in a row that were conflicts, each about another version of the pod, and the last of these. */
  conflicts?: { readonly count: number; readonly version: string } | undefined;
  /** Since when its node cannot be read, while a hold is at its maximum; undefined: it can. */
  unreadableSinceMs?: number | undefined;
  /** The last live read in place of a late cache did not confirm the taint. */
  unconfirmed?: boolean;
}
