/** The disruption state of a zone; `initial` until its first evaluation. */
export type ZoneCondition = 'initial' | 'normal' | 'partially-disrupted' | 'fully-disrupted';

/** Display name of a zone; nodes without zone labels are in the zone with the empty key. */
export function zoneName(zone: string): string {
  return zone === '' ? '(none)' : zone;
}
