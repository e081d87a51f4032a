/** Reads JSON of unknown shape. A value of the wrong type is read as empty. */

export type JsonMap = Readonly<Record<string, unknown>>;

export function isMap(value: unknown): value is JsonMap {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

export function mapOf(value: unknown): JsonMap {
  return isMap(value) ? value : {};
}

export function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

/** The objects of a list; items that are not objects are dropped. */
export function mapsOf(value: unknown): readonly JsonMap[] {
  return listOf(value).filter(isMap);
}

export function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

export function isAbsent(value: unknown): value is undefined | null {
  return value === undefined || value === null;
}

/** The same value without nulls, at every depth: in an API object null and absent are equivalent. */
export function withoutNulls(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutNulls);
  if (!isMap(value)) return value;
  const kept = Object.entries(value).filter(([, field]) => !isAbsent(field));
  return Object.fromEntries(kept.map(([name, field]) => [name, withoutNulls(field)]));
}

/** JSON text with sorted keys: equal for equal values. */
export function canonicalJson(value: unknown): string {
  return JSON.stringify(sortKeys(value)) ?? 'null';
}

/** A copy of the value with sorted keys, at every depth. */
export function sortKeys(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sortKeys);
  if (!isMap(value)) return value;
  const entries = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(entries.map(([name, field]) => [name, sortKeys(field)]));
}
