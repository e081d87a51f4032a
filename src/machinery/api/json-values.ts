import { ownValue } from './json-map.ts';

/** Whether two JSON values are equal. Absent and `undefined` are equal; the order of keys does not matter. */
export function sameJson(a: unknown, b: unknown): boolean {
  return a === b || sameNested(a, b);
}

/** One pass over both: the server compares each object with its earlier version on every write. */
function sameNested(a: unknown, b: unknown): boolean {
  if (!isObject(a) || !isObject(b) || a === b) return Object.is(a, b);
  if (Array.isArray(a)) return Array.isArray(b) && sameItems(a, b);
  return !Array.isArray(b) && sameFields(a, b);
}

function sameItems(a: readonly unknown[], b: readonly unknown[]): boolean {
  if (a.length !== b.length) return false;
  for (let index = 0; index < a.length; index += 1) if (!sameNested(a[index], b[index])) return false;
  return true;
}

function sameFields(a: Readonly<Record<string, unknown>>, b: Readonly<Record<string, unknown>>): boolean {
  let more = 0;
  for (const key in a) {
    const value = a[key];
    if (value === undefined) continue;
    if (!sameNested(value, ownValue(b, key))) return false;
    more += 1;
  }
  for (const key in b) if (b[key] !== undefined) more -= 1;
  return more === 0;
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
  for (const key of Object.keys(wanted)) if (!coversJson(ownValue(actual, key), wanted[key])) return false;
  return true;
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null;
}

/** A private copy of a JSON value, as if it was encoded and decoded: fields that are undefined are left out. */
export function copyJson<T>(value: T): T;
export function copyJson(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map((item: unknown) => (item === undefined ? null : copyJson(item)));
  // A spread is cheap, since the copy has the hidden class of the original.
  const copy: Record<string, unknown> = { ...value };
  for (const key of Object.keys(copy)) {
    const field = copy[key];
    if (typeof field === 'object') copy[key] = copyJson(field);
    else if (field === undefined) delete copy[key];
  }
  return copy;
}
