/**
 * How many items of a list inside one object are used. Real objects have less than a tenth of each: a node some ten taints
 * and conditions and a hundred labels, a pod some ten tolerations. The API server limits only their bytes (1.5 MiB), which is
 * 50,000 of them, and some are compared with all of another object (decision 0018).
 */
export const listLimits = {
  taints: 2_000,
  tolerations: 2_000,
  conditions: 1_000,
  labels: 2_000,
} as const;

/** Items of a name that the controller itself reads or writes are used at any place of a longer list, up to this number. */
export const namedBeyondMax = 256;

/** The first items of a list, and of those beyond the limit the ones that are named. The same list if it is within the limit. */
export function limitList<T>(items: readonly T[], max: number, isNamed: (item: T) => boolean): readonly T[] {
  if (items.length <= max) return items;
  return [...items.slice(0, max), ...items.slice(max).filter(isNamed).slice(0, namedBeyondMax)];
}
