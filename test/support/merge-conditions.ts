import { type Condition, listConditions } from '../../src/machinery/api/conditions.ts';

/** As in a strategic merge patch: by type. Malformed values are replaced, since they cannot be merged. */
export function mergeConditions(before: unknown, patch: readonly Condition[]): readonly Condition[] {
  const stored = listConditions(before);
  const merged = stored.map((condition) => ({ ...condition, ...patch.find(({ type }) => type === condition.type) }));
  return [...merged, ...patch.filter(({ type }) => !stored.some((condition) => condition.type === type))];
}
