// Compares two observations and matches their differences with the intended ones.
import { isDeepStrictEqual } from 'node:util';

/** One value that differs. */
export interface Difference {
  /** Path in the observation. */
  readonly at: string;
  /** Undefined: absent. */
  readonly upstream: unknown;
  readonly nlc: unknown;
}

/** An intended difference. */
export interface MeantDifference extends Difference {
  readonly step: string;
  /** File in `docs/decisions` with the reason. */
  readonly record: string;
  /** Depends on a race in kube-controller-manager: the difference does not always occur. */
  readonly sometimes?: true;
}

/** The smallest values that differ, by path; lists are compared as a whole. */
export function differencesOf(upstream: unknown, nlc: unknown, at = ''): readonly Difference[] {
  if (isDeepStrictEqual(upstream, nlc)) return [];
  if (!isRecord(upstream) || !isRecord(nlc)) return [{ at, upstream, nlc }];
  const keys = [...new Set([...Object.keys(upstream), ...Object.keys(nlc)])].sort();
  return keys.flatMap((key) => differencesOf(upstream[key], nlc[key], at === '' ? key : `${at} > ${key}`));
}

/** Differences that did not exist after the previous step. Events are compared per step, so their differences are always new. */
export function newDifferences(found: readonly Difference[], before: readonly Difference[]): readonly Difference[] {
  return found.filter(
    (each) => each.at.startsWith('events') || !before.some((known) => isDeepStrictEqual(known, each)),
  );
}

/** Differences that are not intended, and intended ones that did not occur. Both are empty if the step passes. */
export function compareWithMeant(
  found: readonly Difference[],
  meant: readonly MeantDifference[],
): { readonly unexpected: readonly Difference[]; readonly missing: readonly Difference[] } {
  const isSame = (a: Difference, b: Difference): boolean =>
    a.at === b.at && isDeepStrictEqual([a.upstream, a.nlc], [b.upstream, b.nlc]);
  return {
    unexpected: found.filter((each) => !meant.some((known) => isSame(known, each))),
    missing: meant.filter((known) => known.sometimes !== true && !found.some((each) => isSame(known, each))),
  };
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
