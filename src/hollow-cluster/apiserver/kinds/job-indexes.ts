/** Indexes of a Job, as `1,3-5` (upstream `validateIndexesFormat`). */

/** How many indexes the text names, or what is wrong with it. Intervals are not expanded: they may be of any length. */
export function countIndexes(text: string, completions: number): number | string {
  let count = 0;
  let previous: number | undefined;
  for (const part of text === '' ? [] : text.split(',')) {
    const range = parseInterval(part, completions);
    if (typeof range === 'string') return range;
    const [first, last] = range;
    if (previous !== undefined && previous >= first) return nonIncreasing(previous, first);
    count += last - first + 1;
    previous = last;
  }
  return count;
}

/**
 * An index that two texts have in common (upstream `validateFailedIndexesNotOverlapCompleted`): the first one, if both are in
 * ascending order. Parts that are no intervals are skipped.
 */
export function findOverlap(one: string, other: string, completions: number): number | undefined {
  const [first, second] = [intervalsOf(one, completions), intervalsOf(other, completions)];
  for (let at = 0, beside = 0; ; ) {
    const [left, right] = [first[at], second[beside]];
    if (left === undefined || right === undefined) return undefined;
    if (left[0] <= right[1] && right[0] <= left[1]) return Math.max(left[0], right[0]);
    if (left[0] <= right[0]) at += 1;
    else beside += 1;
  }
}

function intervalsOf(text: string, completions: number): readonly (readonly [number, number])[] {
  return text
    .split(',')
    .map((part) => parseInterval(part, completions))
    .filter((interval) => typeof interval !== 'string');
}

function parseInterval(part: string, completions: number): readonly [number, number] | string {
  const limits = part.split('-');
  if (limits.length > 2) {
    return `the fragment "${part}" violates the requirement that an index interval can have at most two parts separated by '-'`;
  }
  const numbers: number[] = [];
  for (const limit of limits) {
    if (!/^\+?\d+$/.test(limit)) return `cannot convert string to integer for index: "${limit}"`;
    if (Number(limit) >= completions) return `too large index: "${limit}"`;
    numbers.push(Number(limit));
  }
  const [first = 0, last] = numbers;
  if (last === undefined) return [first, first];
  return first >= last ? nonIncreasing(first, last) : [first, last];
}

function nonIncreasing(previous: number, current: number): string {
  return `non-increasing order, previous: ${previous}, current: ${current}`;
}
