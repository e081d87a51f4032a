/** Zones: the zone of a node, and whether the node is counted in that zone's disruption state. */
import { ownValue } from './json-map.ts';

export type Labels = Readonly<Record<string, string>>;

const regionLabels = ['failure-domain.beta.kubernetes.io/region', 'topology.kubernetes.io/region'] as const;
const zoneLabels = ['failure-domain.beta.kubernetes.io/zone', 'topology.kubernetes.io/zone'] as const;
/** With the value `allowed`: the controller may add the taint out-of-service to this node. */
export const outOfServiceLabel = 'nodelifecycle/out-of-service';
const excludeDisruptionLabel = 'node.kubernetes.io/exclude-disruption';

/**
 * `region/zone`; empty for a node without either label. A beta label takes precedence if its key is present, even if
 * empty (component-helpers `GetZoneKey`). kube-controller-manager joins with `:` NUL `:`; `/` can be printed and queried.
 */
export function zoneOf(labels: Labels): string {
  const region = firstPresent(labels, regionLabels);
  const zone = firstPresent(labels, zoneLabels);
  return region === '' && zone === '' ? '' : `${region}/${zone}`;
}

function firstPresent(labels: Labels, keys: readonly string[]): string {
  const key = firstKeyPresent(labels, keys);
  return key === undefined ? '' : (ownValue(labels, key) ?? '');
}

function firstKeyPresent(labels: Labels, keys: readonly string[]): string | undefined {
  return keys.find((candidate) => ownValue(labels, candidate) !== undefined);
}

const controlPlaneLabels = ['node-role.kubernetes.io/control-plane', 'node-role.kubernetes.io/master'] as const;

/** The labels of nodes that the controller itself reads. */
export const nodeLabels: readonly string[] = [
  ...regionLabels,
  ...zoneLabels,
  ...controlPlaneLabels,
  excludeDisruptionLabel,
  outOfServiceLabel,
];

/** Whether the node has a control-plane role label, with any value. */
export function isControlPlaneNode(labels: Labels): boolean {
  return firstKeyPresent(labels, controlPlaneLabels) !== undefined;
}

/**
 * True if a node with these labels is not counted in the disruption state of its zone; it is still watched, tainted and
 * evicted.
 */
export function isExcludedFromDisruption(labels: Labels): boolean {
  return labels[excludeDisruptionLabel] !== undefined;
}
