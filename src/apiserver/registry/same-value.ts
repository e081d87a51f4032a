/** Deep equality of JSON values; the order of an object's fields does not matter, that of a list's elements does. */
export function sameValue(a: unknown, b: unknown): boolean {
  if (a === b) return true;
  if (!isObject(a) || !isObject(b) || Array.isArray(a) !== Array.isArray(b)) return false;
  const fields = definedFields(a);
  return (
    fields.length === definedFields(b).length &&
    fields.every((field) => Object.hasOwn(b, field) && sameValue(a[field], b[field]))
  );
}

function definedFields(value: Readonly<Record<string, unknown>>): readonly string[] {
  return Object.keys(value).filter((field) => value[field] !== undefined);
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null;
}
