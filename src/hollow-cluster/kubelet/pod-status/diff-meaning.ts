import { isMap, ownValue } from '../../../machinery/api/json-map.ts';

/**
 * Semantic equality of two JSON values: absent, null, an empty string, an empty list and an empty map are equal,
 * because an API server omits or adds empty values (apimachinery `equality.Semantic.DeepEqual`).
 */
export function semanticallyEqual(a: unknown, b: unknown): boolean {
  if (isEmpty(a) || isEmpty(b)) return isEmpty(a) && isEmpty(b);
  if (Array.isArray(a) || Array.isArray(b)) return Array.isArray(a) && Array.isArray(b) && sameItems(a, b);
  if (!isMap(a) || !isMap(b)) return Object.is(a, b);
  const keys = new Set([...Object.keys(a), ...Object.keys(b)]);
  return [...keys].every((key) => semanticallyEqual(ownValue(a, key), ownValue(b, key)));
}

/** Neither absent nor null: on the wire both mean unset. */
export function isGiven<T>(value: T | null | undefined): value is T {
  return value !== undefined && value !== null;
}

export function isEmpty(value: unknown): boolean {
  if (!isGiven(value) || value === '') return true;
  if (Array.isArray(value)) return value.length === 0;
  return isMap(value) && Object.values(value).every(isEmpty);
}

function sameItems(a: readonly unknown[], b: readonly unknown[]): boolean {
  return a.length === b.length && a.every((item, place) => semanticallyEqual(item, b[place]));
}
