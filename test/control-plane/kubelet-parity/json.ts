// Parsed JSON, taken apart.

export type JsonRecord = Readonly<Record<string, unknown>>;

export function isRecord(value: unknown): value is JsonRecord {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** What tells the elements of a list apart: their type or their name; undefined if they have none. */
export function keyOf(element: unknown): string | undefined {
  if (!isRecord(element)) return undefined;
  const key = element['type'] ?? element['name'];
  return typeof key === 'string' ? key : undefined;
}

/** The elements of a list by their keys; undefined if it is none, or if they are not told apart by them. */
export function keyed(list: unknown): ReadonlyMap<string, unknown> | undefined {
  if (!Array.isArray(list) || list.length === 0) return undefined;
  const byKey = new Map(list.map((element) => [keyOf(element) ?? '', element]));
  return byKey.size === list.length && !byKey.has('') ? byKey : undefined;
}
