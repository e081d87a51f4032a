import type { ZoneCondition } from '../../machinery/api/zone.ts';

export interface ZoneTally {
  readonly ready: number;
  /** Number of nodes that are not ready, unknown, or without a Ready condition. */
  readonly unready: number;
}

// With one or two unready nodes a zone stays normal however small it is: a share of few nodes is not significant.
const tooFewToEvaluate = 2;

/** Disruption state of a zone (upstream `ComputeZoneState`; the share is compared in 32-bit floats, as there). */
export function classifyZone({ ready, unready }: ZoneTally, unhealthyZoneThreshold: number): ZoneCondition {
  if (ready === 0 && unready > 0) return 'fully-disrupted';
  const share = Math.fround(unready / (ready + unready));
  if (unready > tooFewToEvaluate && share >= Math.fround(unhealthyZoneThreshold)) return 'partially-disrupted';
  return 'normal';
}
