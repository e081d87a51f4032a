/** Indexes of the values that stand earlier in the list too, in linear time. Values are compared as by `indexOf`. */
export function findRepeated(values: readonly unknown[]): ReadonlySet<number> {
  const known = new Set<unknown>();
  const repeated = new Set<number>();
  for (const [index, value] of values.entries()) {
    if (known.has(value)) repeated.add(index);
    known.add(value);
  }
  return repeated;
}
