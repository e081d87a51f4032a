// Helpers for parsed JSON.

export type JsonRecord = Readonly<Record<string, unknown>>;

export function isRecord(value: unknown): value is JsonRecord {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The merge key of a list element: its type or name; undefined if it has none. */
function keyOf(element: unknown): string | undefined {
  if (!isRecord(element)) return undefined;
  const key = element['type'] ?? element['name'];
  return typeof key === 'string' ? key : undefined;
}

/** The elements of a list by their keys; undefined if it is not a list or the keys are not unique. */
export function keyed(list: unknown): ReadonlyMap<string, unknown> | undefined {
  if (!Array.isArray(list) || list.length === 0) return undefined;
  const byKey = new Map(list.map((element) => [keyOf(element) ?? '', element]));
  return byKey.size === list.length && !byKey.has('') ? byKey : undefined;
}
