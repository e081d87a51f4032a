import type { Instant } from '../../machinery/ports/clock.ts';

/**
 * Source of a heartbeat time. `full-disruption-end`: no heartbeat, but at the end of a full disruption every node gets
 * a full grace period.
 */
export type HeartbeatChannel = 'lease' | 'status' | 'creation' | 'full-disruption-end';

/** Eviction mode. `to-be-evicted`: in the queue of its zone. `evicted`: its pods are deleted, later ones too, until it is Ready. */
export type EvictionMark = 'unmarked' | 'to-be-evicted' | 'evicted';

export type Now = Instant;
