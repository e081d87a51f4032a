// How two tellings of one step are told apart.
import { isDeepStrictEqual } from 'node:util';
import { isRecord, keyed } from './json.ts';
import type { Line, Told } from './lines.ts';

/** One request that only one side has sent, or one value in which two requests differ. */
export interface Difference {
  readonly object: string;
  readonly action: string;
  /** Path in the body; undefined if the request as a whole is missing on one side. */
  readonly at?: string;
  readonly reference: unknown;
  readonly ours: unknown;
}

/** The same request on both sides, or one without its like. */
export interface Row {
  readonly reference: Line | undefined;
  readonly ours: Line | undefined;
  readonly differences: readonly Difference[];
}

/** What stands for a request that was sent and has no like. */
export const sent = 'sent';

/** The rows of every object, in its own order. */
export function compareTold(reference: Told, ours: Told): ReadonlyMap<string, readonly Row[]> {
  const objects = [...new Set([...reference.keys(), ...ours.keys()])].sort();
  return new Map(
    objects.map((object) => [object, rowsOf(object, reference.get(object) ?? [], ours.get(object) ?? [])]),
  );
}

function rowsOf(object: string, reference: readonly Line[], ours: readonly Line[]): readonly Row[] {
  return align(reference, ours).map(([theirs, own]) => {
    const action = theirs?.action ?? own?.action ?? '';
    const row = { reference: theirs, ours: own };
    if (theirs === undefined) return { ...row, differences: [{ object, action, reference: undefined, ours: sent }] };
    if (own === undefined) return { ...row, differences: [{ object, action, reference: sent, ours: undefined }] };
    const found = valuesApart(theirs.body, own.body, '');
    return { ...row, differences: found.map((each) => ({ object, action, ...each })) };
  });
}

type Pair = readonly [Line | undefined, Line | undefined];

/** The longest common subsequence of actions, and what is left over on each side where it lies. */
function align(left: readonly Line[], right: readonly Line[]): readonly Pair[] {
  const [l, r] = [left[0], right[0]];
  if (l === undefined) return right.map((line) => [undefined, line]);
  if (r === undefined) return left.map((line) => [line, undefined]);
  const lengths = commonLengths(left, right);
  const pairs: Pair[] = [];
  let [i, j] = [0, 0];
  while (i < left.length || j < right.length) {
    const isCommon = i < left.length && j < right.length && left[i]!.action === right[j]!.action;
    if (isCommon) pairs.push([left[i++], right[j++]]);
    else if (j >= right.length || (i < left.length && lengths[i + 1]![j]! >= lengths[i]![j + 1]!))
      pairs.push([left[i++], undefined]);
    else pairs.push([undefined, right[j++]]);
  }
  return pairs;
}

/** For each pair of places the length of what is common from there on. */
function commonLengths(left: readonly Line[], right: readonly Line[]): readonly (readonly number[])[] {
  const lengths = Array.from({ length: left.length + 1 }, () => Array.from({ length: right.length + 1 }, () => 0));
  for (let i = left.length - 1; i >= 0; i -= 1) {
    for (let j = right.length - 1; j >= 0; j -= 1) {
      const isCommon = left[i]!.action === right[j]!.action;
      lengths[i]![j] = isCommon ? lengths[i + 1]![j + 1]! + 1 : Math.max(lengths[i + 1]![j]!, lengths[i]![j + 1]!);
    }
  }
  return lengths;
}

type Apart = Pick<Required<Difference>, 'at' | 'reference' | 'ours'>;

/** The smallest values that differ, by path; lists by the types or names of their elements, and their order. */
function valuesApart(reference: unknown, ours: unknown, at: string): readonly Apart[] {
  if (isDeepStrictEqual(reference, ours)) return [];
  const [theirs, own] = [keyed(reference), keyed(ours)];
  if (theirs !== undefined && own !== undefined) {
    const found = fieldsApart(Object.fromEntries(theirs), Object.fromEntries(own), (key) => `${at}[${key}]`);
    return isSameOrder(theirs, own) ? found : [...found, { at: `order of ${at}`, ...keysOf(theirs, own) }];
  }
  if (!isRecord(reference) || !isRecord(ours)) return [{ at, reference, ours }];
  return fieldsApart(reference, ours, (key) => (at === '' ? key : `${at}.${key}`));
}

function fieldsApart(
  reference: Readonly<Record<string, unknown>>,
  ours: Readonly<Record<string, unknown>>,
  path: (key: string) => string,
): readonly Apart[] {
  const keys = [...new Set([...Object.keys(reference), ...Object.keys(ours)])].sort();
  return keys.flatMap((key) => valuesApart(reference[key], ours[key], path(key)));
}

type ByKey = ReadonlyMap<string, unknown>;

/** Of those that are on both sides. */
function isSameOrder(theirs: ByKey, own: ByKey): boolean {
  const { reference, ours } = keysOf(theirs, own);
  return isDeepStrictEqual(reference, ours);
}

function keysOf(
  theirs: ByKey,
  own: ByKey,
): { readonly reference: readonly string[]; readonly ours: readonly string[] } {
  return {
    reference: [...theirs.keys()].filter((key) => own.has(key)),
    ours: [...own.keys()].filter((key) => theirs.has(key)),
  };
}
