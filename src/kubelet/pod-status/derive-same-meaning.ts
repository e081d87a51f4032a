/**
 * Do two JSON values mean the same to an API server? What is absent, null, empty text, an empty list or an empty map is
 * one and the same: a server leaves out what is empty, or fills it in (apimachinery `equality.Semantic.DeepEqual`).
 */
export function sameMeaning(a: unknown, b: unknown): boolean {
  if (isEmpty(a) || isEmpty(b)) return isEmpty(a) && isEmpty(b);
  if (Array.isArray(a) || Array.isArray(b)) return Array.isArray(a) && Array.isArray(b) && sameItems(a, b);
  if (!isMap(a) || !isMap(b)) return Object.is(a, b);
  const keys = new Set([...Object.keys(a), ...Object.keys(b)]);
  return [...keys].every((key) => sameMeaning(a[key], b[key]));
}

/** Neither absent nor null: on the wire both say nothing. */
export function isGiven<T>(value: T | null | undefined): value is T {
  return value !== undefined && value !== null;
}

export function isEmpty(value: unknown): boolean {
  if (!isGiven(value) || value === '') return true;
  if (Array.isArray(value)) return value.length === 0;
  return isMap(value) && Object.values(value).every(isEmpty);
}

function sameItems(a: readonly unknown[], b: readonly unknown[]): boolean {
  return a.length === b.length && a.every((item, place) => sameMeaning(item, b[place]));
}

function isMap(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null;
}
