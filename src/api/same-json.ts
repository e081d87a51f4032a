/** Comparison of JSON values. Absent and `undefined` are equal; the order of keys does not matter. */

export function sameJson(a: unknown, b: unknown): boolean {
  return a === b || (coversJson(a, b) && coversJson(b, a));
}

/**
 * Whether `actual` has every field of `wanted` with an equal value. Objects may have more fields; lists are compared
 * element by element. Defaults that a server adds are therefore not a difference.
 */
export function coversJson(actual: unknown, wanted: unknown): boolean {
  if (!isObject(wanted)) return wanted === undefined || Object.is(actual, wanted);
  if (actual === wanted) return true;
  if (!isObject(actual) || Array.isArray(actual) !== Array.isArray(wanted)) return false;
  if (Array.isArray(wanted) && actual['length'] !== wanted.length) return false;
  for (const key of Object.keys(wanted)) if (!coversJson(actual[key], wanted[key])) return false;
  return true;
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null;
}
