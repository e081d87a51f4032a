import { ownValue } from '../../machinery/api/json-map.ts';
import type { Labels } from '../../machinery/api/topology.ts';

/** Current label, and the deprecated one that must have the same value. */
const mirrored: readonly (readonly [from: string, to: string])[] = [
  ['kubernetes.io/os', 'beta.kubernetes.io/os'],
  ['kubernetes.io/arch', 'beta.kubernetes.io/arch'],
];

/** The deprecated labels that are missing or differ; none without its source (upstream `reconcileNodeLabels`). */
export function diffLabels(labels: Labels): Labels {
  const missing = mirrored.flatMap(([from, to]) => {
    const value = ownValue(labels, from);
    return value === undefined || ownValue(labels, to) === value ? [] : [[to, value] as const];
  });
  return Object.fromEntries(missing);
}

/** Whether a deprecated label is missing or differs. */
export function needsLabels({ labels }: { readonly labels: Labels }): boolean {
  return Object.keys(diffLabels(labels)).length > 0;
}
