/** Zones: which one a node belongs to, and whether it counts in that zone's arithmetic. */

export type Labels = Readonly<Record<string, string>>;

const regionLabels = ['failure-domain.beta.kubernetes.io/region', 'topology.kubernetes.io/region'] as const;
const zoneLabels = ['failure-domain.beta.kubernetes.io/zone', 'topology.kubernetes.io/zone'] as const;
export const excludeDisruptionLabel = 'node.kubernetes.io/exclude-disruption';

/**
 * `region/zone`; empty for a node without either label. A beta label wins over the modern one where its key is present,
 * even if empty (component-helpers `GetZoneKey`). The reference joins with `:` NUL `:`; ours can be printed and queried.
 */
export function zoneOf(labels: Labels): string {
  const region = firstPresent(labels, regionLabels);
  const zone = firstPresent(labels, zoneLabels);
  return region === '' && zone === '' ? '' : `${region}/${zone}`;
}

function firstPresent(labels: Labels, keys: readonly string[]): string {
  const key = keys.find((candidate) => labels[candidate] !== undefined);
  return key === undefined ? '' : (labels[key] ?? '');
}

/** Left out of the zone's arithmetic; still watched, tainted and evicted. */
export function isExcludedFromDisruption(labels: Labels): boolean {
  return labels[excludeDisruptionLabel] !== undefined;
}
