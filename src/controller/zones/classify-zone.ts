import type { ZoneCondition } from '../../api/zone.ts';

export interface ZoneTally {
  readonly ready: number;
  /** Not ready, unknown, or without a Ready condition. */
  readonly unready: number;
}

// A share means little among few: with one or two unready nodes a zone stays normal however small it is.
const tooFewToJudge = 2;

/** How bad a zone is (upstream `ComputeZoneState`; the share is compared in 32-bit floats, as there). */
export function classifyZone({ ready, unready }: ZoneTally, unhealthyZoneThreshold: number): ZoneCondition {
  if (ready === 0 && unready > 0) return 'fully-disrupted';
  const share = Math.fround(unready / (ready + unready));
  if (unready > tooFewToJudge && share >= Math.fround(unhealthyZoneThreshold)) return 'partially-disrupted';
  return 'normal';
}
