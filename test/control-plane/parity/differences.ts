// How two observations are told apart, and which differences are meant.
import { isDeepStrictEqual } from 'node:util';

/** One value in which the two differ. */
export interface Difference {
  /** Path in the observation. */
  readonly at: string;
  /** Undefined: nothing there. */
  readonly reference: unknown;
  readonly ours: unknown;
}

/** A difference that is meant. */
export interface MeantDifference extends Difference {
  readonly step: string;
  /** File in `docs/decisions` that says why. */
  readonly record: string;
  /** The reference races with itself: now it does as we do, now it does not. */
  readonly sometimes?: true;
}

/** The smallest values that differ, by path; lists are compared as a whole. */
export function differencesOf(reference: unknown, ours: unknown, at = ''): readonly Difference[] {
  if (isDeepStrictEqual(reference, ours)) return [];
  if (!isRecord(reference) || !isRecord(ours)) return [{ at, reference, ours }];
  const keys = [...new Set([...Object.keys(reference), ...Object.keys(ours)])].sort();
  return keys.flatMap((key) => differencesOf(reference[key], ours[key], at === '' ? key : `${at} > ${key}`));
}

/** Those that were not there before: what has become different may stay so, except for what was told in one step. */
export function newDifferences(found: readonly Difference[], before: readonly Difference[]): readonly Difference[] {
  return found.filter(
    (each) => each.at.startsWith('events') || !before.some((known) => isDeepStrictEqual(known, each)),
  );
}

/** What was found and not meant, and what was meant and not found. Both empty if all is well. */
export function compareWithMeant(
  found: readonly Difference[],
  meant: readonly MeantDifference[],
): { readonly unexpected: readonly Difference[]; readonly missing: readonly Difference[] } {
  const isSame = (a: Difference, b: Difference): boolean =>
    a.at === b.at && isDeepStrictEqual([a.reference, a.ours], [b.reference, b.ours]);
  return {
    unexpected: found.filter((each) => !meant.some((known) => isSame(known, each))),
    missing: meant.filter((known) => known.sometimes !== true && !found.some((each) => isSame(known, each))),
  };
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
