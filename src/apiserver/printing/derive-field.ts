/**
 * Reading objects whose shape nobody promised: the server stores what validation let through, and a table must come out
 * whatever that was. A missing field, or one of the wrong type, reads as empty.
 */

/** Any JSON object. */
export type Fields = Readonly<Record<string, unknown>>;

export function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The value at a path of field names; undefined where the path ends early. */
export function valueAt(fields: unknown, ...path: readonly string[]): unknown {
  let value = fields;
  for (const name of path) {
    if (!isFields(value)) return undefined;
    value = value[name];
  }
  return value;
}

/** The text at a path, or `''`. */
export function textAt(fields: unknown, ...path: readonly string[]): string {
  const value = valueAt(fields, ...path);
  return typeof value === 'string' ? value : '';
}

/** The number at a path, or 0. */
export function numberAt(fields: unknown, ...path: readonly string[]): number {
  const value = valueAt(fields, ...path);
  return typeof value === 'number' ? value : 0;
}

/** The object at a path, or an empty one. */
export function fieldsAt(fields: unknown, ...path: readonly string[]): Fields {
  const value = valueAt(fields, ...path);
  return isFields(value) ? value : {};
}

/** The objects in the list at a path; what is no object is left out. */
export function listAt(fields: unknown, ...path: readonly string[]): readonly Fields[] {
  const value = valueAt(fields, ...path);
  return Array.isArray(value) ? value.filter(isFields) : [];
}
