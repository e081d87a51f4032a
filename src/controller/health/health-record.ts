import type { LeaseView } from '../../api/lease.ts';

/** What we remember of one node's signs of life. All times are our own monotonic clock at the moment we noticed. */
export interface HealthRecord {
  readonly uid: string;
  /** The last time a heartbeat changed (upstream `probeTimestamp`). */
  readonly heardAtMs: number;
  /** The last time the Ready condition changed (upstream `readyTransitionTimestamp`). */
  readonly readyChangedAtMs: number;
  /** The Ready condition as last seen; compared with the next one, never with our clock. */
  readonly readyHeartbeat: string | undefined;
  readonly readyTransition: string | undefined;
  readonly hasReady: boolean;
  readonly lease: LeaseView | undefined;
  /** Something was heard since the node became Unknown, or since we know it. */
  readonly heardSinceUnknown: boolean;
}
