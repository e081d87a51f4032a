/** The order of two numbers or two texts, by code units: for `sort`. */
export function compare<T extends number | string>(a: T, b: T): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}
