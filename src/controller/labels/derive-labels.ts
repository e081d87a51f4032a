import type { Labels } from '../../api/topology.ts';

/** Modern label, and the older one that must say the same for those who still read it. */
const mirrored: readonly (readonly [from: string, to: string])[] = [
  ['kubernetes.io/os', 'beta.kubernetes.io/os'],
  ['kubernetes.io/arch', 'beta.kubernetes.io/arch'],
];

/** The older labels that are missing or differ; never one without its source (upstream `reconcileNodeLabels`). */
export function deriveMissingLabels(labels: Labels): Labels {
  const missing = mirrored.flatMap(([from, to]) => {
    const value = labels[from];
    return value === undefined || labels[to] === value ? [] : [[to, value] as const];
  });
  return Object.fromEntries(missing);
}
