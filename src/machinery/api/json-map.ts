/** Reads JSON of unknown shape. A value of the wrong type is read as empty. */

export type JsonMap = Readonly<Record<string, unknown>>;

export function isMap(value: unknown): value is JsonMap {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** A map with the keys of T, of which nothing is known yet: it came from another process. */
export type Untrusted<T> = { readonly [Key in keyof T]?: unknown };

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

/** The value of JSON from outside; undefined: it is not JSON. The error of the parser would repeat a part of the text. */
export function parsedOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/**
 * The value under a key from outside; undefined unless the record itself has that key: plain objects also inherit
 * `constructor`, `toString` and others, which are valid keys of labels, taints and data.
 */
export function ownValue<V>(record: Readonly<Record<string, V>> | undefined | null, key: string): V | undefined {
  const value = record?.[key];
  return value !== undefined && Object.hasOwn(record ?? {}, key) ? value : undefined;
}

/** Stores a value under a key from outside, also under `__proto__`, whose assignment changes the prototype instead. */
export function setOwn<V>(record: Record<string, V>, key: string, value: NoInfer<V>): void {
  if (key === '__proto__') {
    Object.defineProperty(record, key, { value, writable: true, enumerable: true, configurable: true });
  } else {
    record[key] = value;
  }
}

export function isAbsent(value: unknown): value is undefined | null {
  return value === undefined || value === null;
}

/** Value without nulls, at every depth: in an API object null and absent are equivalent. */
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
