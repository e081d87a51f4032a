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
