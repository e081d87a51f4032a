/** A private copy of a JSON value, as if it was encoded and decoded: fields that are undefined are left out. */
export function copyJson<T>(value: T): T;
export function copyJson(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map((item: unknown) => (item === undefined ? null : copyJson(item)));
  // A spread is cheap, since the copy has the hidden class of the original.
  const copy: Record<string, unknown> = { ...value };
  for (const key of Object.keys(copy)) {
    const field = copy[key];
    if (typeof field === 'object') copy[key] = copyJson(field);
    else if (field === undefined) delete copy[key];
  }
  return copy;
}
