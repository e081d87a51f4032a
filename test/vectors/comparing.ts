// Comparison of an expectation with the actual value. Each returns what was found, or undefined if it matches.
import type { Check } from './world.ts';

/** Timestamps of the API have whole seconds, and rounding is not tested; a larger deviation is a difference. */
const closeEnough = 1e-6;

export function show(value: unknown): string {
  return JSON.stringify(value) ?? 'undefined';
}

export function isMap(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

export function isSame(a: unknown, b: unknown): boolean {
  if (typeof a === 'number' && typeof b === 'number') return Math.abs(a - b) < closeEnough;
  if (Array.isArray(a) && Array.isArray(b)) return a.length === b.length && a.every((item, at) => isSame(item, b[at]));
  if (!isMap(a) || !isMap(b)) return a === b;
  const keys = Object.keys(a);
  return keys.length === Object.keys(b).length && keys.every((key) => Object.hasOwn(b, key) && isSame(a[key], b[key]));
}

/** Contains all that is expected; more may be present. A list must contain each expected item. */
export function contains(found: unknown, expected: unknown): boolean {
  if (Array.isArray(expected))
    return Array.isArray(found) && expected.every((item) => found.some((one) => contains(one, item)));
  if (!isMap(expected)) return isSame(found, expected);
  return isMap(found) && Object.entries(expected).every(([key, value]) => contains(found[key], value));
}

function isSameSet(a: readonly unknown[], b: readonly unknown[]): boolean {
  return a.length === b.length && b.every((item) => a.some((one) => isSame(one, item)));
}

/** Compares a value with the expected one. */
export function equals(find: () => unknown): Check {
  return (expected: unknown) => {
    const found = find();
    return isSame(found, expected) ? undefined : show(found);
  };
}

/** As {@link equals}, in any order. */
export function equalsAsSet(find: () => readonly unknown[]): Check {
  return (expected: unknown) => {
    const found = find();
    return Array.isArray(expected) && isSameSet(found, expected) ? undefined : show(found);
  };
}

/** Compares name by name; only the names in the vector. */
export function byName(find: (name: string) => unknown, same = isSame): Check {
  return (expected: unknown) => {
    if (!isMap(expected)) return `a map is expected, got: ${show(expected)}`;
    const differing = Object.entries(expected).flatMap(([name, value]) => {
      const found = find(name);
      return same(found, value) ? [] : [`${show(name)}: ${show(found)}`];
    });
    return differing.length === 0 ? undefined : differing.join('; ');
  };
}

/** A number for all, or a map with a number for each name. */
export function counts(count: (name?: string) => number): Check {
  return (expected: unknown) => (isMap(expected) ? byName(count) : equals(() => count()))(expected as never);
}
