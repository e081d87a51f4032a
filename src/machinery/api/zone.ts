/** The disruption state of a zone; `initial` until its first evaluation. */
export type ZoneCondition = 'initial' | 'normal' | 'partially-disrupted' | 'fully-disrupted';

/** Display name of a zone; nodes without zone labels are in the zone with the empty key. */
export function zoneName(zone: string): string {
  return zone === '' ? '(none)' : zone;
}

/** In no label value and in no name of a policy. */
const separator = ':';
/** No label value: it stands for all zones of an outer zone. */
const outerSuffix = `${separator}*`;

/** The name of a zone of a policy: the values of its labels, those of the outer level first. */
export function buildPolicyZone(policy: string, levels: readonly string[]): string {
  return [policy, ...levels].join(separator);
}

/** The name of the policy whose zone it is; undefined: a zone of region and zone. */
export function policyOfZone(zone: string): string | undefined {
  const end = zone.indexOf(separator);
  return end < 0 ? undefined : zone.slice(0, end);
}

/** `POLICY:OUTER:*` of a zone `POLICY:OUTER:INNER`; undefined for a zone of one level, and for an outer zone. */
export function outerZoneOf(zone: string): string | undefined {
  const first = zone.indexOf(separator);
  const second = first < 0 ? -1 : zone.indexOf(separator, first + 1);
  return second < 0 || isOuterZone(zone) ? undefined : `${zone.slice(0, second)}${outerSuffix}`;
}

export function isOuterZone(zone: string): boolean {
  return zone.endsWith(outerSuffix);
}

/** The zones in which a node of this zone counts, all of which must allow its NoExecute taint: it, and its outer zone. */
export function zoneLevels(zone: string): readonly string[] {
  const outer = outerZoneOf(zone);
  return outer === undefined ? [zone] : [zone, outer];
}
