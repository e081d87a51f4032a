// Which differences are meant.
import { isDeepStrictEqual } from 'node:util';
import type { Difference } from './compare.ts';

/** One or many differences that are meant. In texts, `*` stands for anything. */
export interface MeantDifference {
  /** Ids of steps; every step if absent. Each of them must have the difference. */
  readonly steps?: readonly string[];
  readonly object: string;
  readonly action: string;
  /** Absent: the request as a whole. */
  readonly at?: string;
  /** Compared only if given. */
  readonly reference?: unknown;
  readonly ours?: unknown;
  /** File in `docs/decisions` that says why. */
  readonly record: string;
  /** It depends on chance, or on how fast the machine is. */
  readonly sometimes?: true;
}

/** Those of a step that no entry describes. */
export function unexpectedOf(
  step: string,
  found: readonly Difference[],
  meant: readonly MeantDifference[],
): readonly Difference[] {
  return found.filter((each) => !meant.some((entry) => describes(entry, step, each)));
}

/** Entries that should have described something in this step, and did not. */
export function missingOf(
  step: string,
  found: readonly Difference[],
  meant: readonly MeantDifference[],
): readonly MeantDifference[] {
  return meant
    .filter(({ steps, sometimes }) => sometimes !== true && steps?.includes(step) === true)
    .filter((entry) => !found.some((each) => describes(entry, step, each)));
}

/** Whether an entry is about this difference of this step. */
export function describes(entry: MeantDifference, step: string, found: Difference): boolean {
  if (entry.steps !== undefined && !entry.steps.includes(step)) return false;
  const isPlace =
    fits(entry.object, found.object) && fits(entry.action, found.action) && fits(entry.at ?? '', found.at ?? '');
  return isPlace && isValue(entry, found, 'reference') && isValue(entry, found, 'ours');
}

function isValue(entry: MeantDifference, found: Difference, side: 'reference' | 'ours'): boolean {
  return !(side in entry) || isDeepStrictEqual(entry[side], found[side]);
}

function fits(pattern: string, text: string): boolean {
  const parts = pattern.split('*').map((part) => part.replaceAll(/[.+?^${}()|[\]\\]/g, '\\$&'));
  return new RegExp(`^${parts.join('.*')}$`, 's').test(text);
}
