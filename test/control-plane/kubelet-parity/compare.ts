// Compares the requests of both kubelets in one step.
import { isDeepStrictEqual } from 'node:util';
import { isRecord, keyed } from './json.ts';
import type { Line, StepLines } from './lines.ts';

/** A request that only one side sent, or a value that differs between two requests. */
export interface Difference {
  readonly object: string;
  readonly action: string;
  /** Path in the body; undefined if the whole request is missing on one side. */
  readonly at?: string;
  readonly upstream: unknown;
  readonly nlc: unknown;
}

/** The same request of both sides, or a request of one side only. */
export interface Row {
  readonly upstream: Line | undefined;
  readonly nlc: Line | undefined;
  readonly differences: readonly Difference[];
}

/** The value of a request that only one side sent. */
const sent = 'sent';

/** The rows of each object, in order. */
export function compareLines(upstream: StepLines, nlc: StepLines): ReadonlyMap<string, readonly Row[]> {
  const objects = [...new Set([...upstream.keys(), ...nlc.keys()])].sort();
  return new Map(objects.map((object) => [object, rowsOf(object, upstream.get(object) ?? [], nlc.get(object) ?? [])]));
}

function rowsOf(object: string, upstream: readonly Line[], nlc: readonly Line[]): readonly Row[] {
  return align(upstream, nlc).map(([expected, actual]) => {
    const action = expected?.action ?? actual?.action ?? '';
    const row = { upstream: expected, nlc: actual };
    if (expected === undefined) return { ...row, differences: [{ object, action, upstream: undefined, nlc: sent }] };
    if (actual === undefined) return { ...row, differences: [{ object, action, upstream: sent, nlc: undefined }] };
    const found = valuesApart(expected.body, actual.body, '');
    return { ...row, differences: found.map((each) => ({ object, action, ...each })) };
  });
}

type Pair = readonly [Line | undefined, Line | undefined];

/** Aligns both lists by their longest common subsequence of actions. */
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

/** For each pair of indexes the length of the common subsequence of the rest. */
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

type Apart = Pick<Required<Difference>, 'at' | 'upstream' | 'nlc'>;

/** The smallest values that differ, by path; lists are compared by the type or name of their elements and by order. */
function valuesApart(upstream: unknown, nlc: unknown, at: string): readonly Apart[] {
  if (isDeepStrictEqual(upstream, nlc)) return [];
  const [expected, actual] = [keyed(upstream), keyed(nlc)];
  if (expected !== undefined && actual !== undefined) {
    const found = fieldsApart(Object.fromEntries(expected), Object.fromEntries(actual), (key) => `${at}[${key}]`);
    return isSameOrder(expected, actual) ? found : [...found, { at: `order of ${at}`, ...keysOf(expected, actual) }];
  }
  if (!isRecord(upstream) || !isRecord(nlc)) return [{ at, upstream, nlc }];
  return fieldsApart(upstream, nlc, (key) => (at === '' ? key : `${at}.${key}`));
}

function fieldsApart(
  upstream: Readonly<Record<string, unknown>>,
  nlc: Readonly<Record<string, unknown>>,
  path: (key: string) => string,
): readonly Apart[] {
  const keys = [...new Set([...Object.keys(upstream), ...Object.keys(nlc)])].sort();
  return keys.flatMap((key) => valuesApart(upstream[key], nlc[key], path(key)));
}

type ByKey = ReadonlyMap<string, unknown>;

/** The order of the elements that both lists have. */
function isSameOrder(expected: ByKey, actual: ByKey): boolean {
  const { upstream, nlc } = keysOf(expected, actual);
  return isDeepStrictEqual(upstream, nlc);
}

function keysOf(
  expected: ByKey,
  actual: ByKey,
): { readonly upstream: readonly string[]; readonly nlc: readonly string[] } {
  return {
    upstream: [...expected.keys()].filter((key) => actual.has(key)),
    nlc: [...actual.keys()].filter((key) => expected.has(key)),
  };
}
