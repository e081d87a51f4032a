// Matches differences with the intended ones.
import { isDeepStrictEqual } from 'node:util';
import type { Difference } from './compare.ts';

/** One or more intended differences. In texts, `*` matches anything. */
export interface MeantDifference {
  /** Ids of the steps that must have the difference; absent: it may occur in any step. */
  readonly steps?: readonly string[];
  readonly object: string;
  readonly action: string;
  /** Absent: the whole request. */
  readonly at?: string;
  /** Compared only if present. */
  readonly upstream?: unknown;
  readonly nlc?: unknown;
  /** File in `docs/decisions` with the reason. */
  readonly record: string;
  /** Depends on a race or on the speed of the machine. */
  readonly sometimes?: true;
}

/** The differences of a step that no entry describes. */
export function unexpectedOf(
  step: string,
  found: readonly Difference[],
  meant: readonly MeantDifference[],
): readonly Difference[] {
  return found.filter((each) => !meant.some((entry) => describes(entry, step, each)));
}

/** The entries of this step without a difference. */
export function missingOf(
  step: string,
  found: readonly Difference[],
  meant: readonly MeantDifference[],
): readonly MeantDifference[] {
  return meant
    .filter(({ steps, sometimes }) => sometimes !== true && steps?.includes(step) === true)
    .filter((entry) => !found.some((each) => describes(entry, step, each)));
}

/** Whether an entry describes this difference of this step. */
export function describes(entry: MeantDifference, step: string, found: Difference): boolean {
  if (entry.steps !== undefined && !entry.steps.includes(step)) return false;
  const isPlace =
    fits(entry.object, found.object) && fits(entry.action, found.action) && fits(entry.at ?? '', found.at ?? '');
  return isPlace && isValue(entry, found, 'upstream') && isValue(entry, found, 'nlc');
}

function isValue(entry: MeantDifference, found: Difference, side: 'upstream' | 'nlc'): boolean {
  return !(side in entry) || isDeepStrictEqual(entry[side], found[side]);
}

function fits(pattern: string, text: string): boolean {
  const parts = pattern.split('*').map((part) => part.replaceAll(/[.+?^${}()|[\]\\]/g, '\\$&'));
  return new RegExp(`^${parts.join('.*')}$`, 's').test(text);
}
