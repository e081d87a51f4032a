import type { LeaseView } from '../../api/lease.ts';

/** What a time of hearing rests on. `outage-end`: nothing was heard, but after an outage everybody counts as heard. */
export type HeartbeatChannel = 'lease' | 'status' | 'creation' | 'outage-end';

/** What we remember of one node's signs of life. All times are our own monotonic clock at the moment we noticed. */
export interface HealthRecord {
  readonly uid: string;
  /** The last time a heartbeat changed (upstream `probeTimestamp`). */
  readonly heardAtMs: number;
  /** By which it changed. */
  readonly channel: HeartbeatChannel;
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
