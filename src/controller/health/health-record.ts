import type { LeaseView } from '../../machinery/api/lease.ts';
import type { HeartbeatChannel } from '../model/node-state.ts';

/** The heartbeats of one node. All times are on the monotonic clock at the moment of the observation. */
export interface HealthRecord {
  readonly uid: string;
  /** The last time a heartbeat changed (upstream `probeTimestamp`). */
  readonly heartbeatAtMs: number;
  /** Source of that heartbeat. */
  readonly channel: HeartbeatChannel;
  /** The last time the Ready condition changed (upstream `readyTransitionTimestamp`). */
  readonly readyChangedAtMs: number;
  /** The Ready condition as last seen; compared with the next one, never with a clock. */
  readonly readyHeartbeat: string | undefined;
  readonly readyTransition: string | undefined;
  readonly hasReady: boolean;
  readonly lease: LeaseView | undefined;
  /** A heartbeat was observed since the node became Unknown, or since it is known. */
  readonly heartbeatSinceUnknown: boolean;
  /** The last times between two renewals, by the clock of the kubelet; see `addInterval`. */
  readonly intervalsMs: readonly number[];
}
