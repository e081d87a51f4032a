/** Comparing JSON values. Absent and `undefined` are the same; the order of keys does not matter. */

export function sameJson(a: unknown, b: unknown): boolean {
  return coversJson(a, b) && coversJson(b, a);
}

/**
 * Does `actual` say everything that `wanted` says? Objects may say more; lists are compared element by element. A server
 * that fills in defaults therefore does not look as if it disagreed.
 */
export function coversJson(actual: unknown, wanted: unknown): boolean {
  if (!isObject(wanted)) return wanted === undefined || Object.is(actual, wanted);
  if (!isObject(actual) || Array.isArray(actual) !== Array.isArray(wanted)) return false;
  if (Array.isArray(wanted) && actual['length'] !== wanted.length) return false;
  return Object.entries(wanted).every(([key, value]) => coversJson(actual[key], value));
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null;
}
