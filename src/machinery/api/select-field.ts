/**
 * Readers of objects without a guaranteed shape: the server stores what validation accepts, and a table must be printed
 * for any of it. A missing field, or one of the wrong type, reads as empty.
 */
import { ownValue } from './json-map.ts';

/** A JSON object that its owner may change. */
export type MutableJsonMap = Record<string, unknown>;

export function isMap(value: unknown): value is MutableJsonMap {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The value at a path of field names; undefined if the path ends early. */
export function valueAt(fields: unknown, ...path: readonly string[]): unknown {
  let value = fields;
  for (const name of path) {
    if (!isMap(value)) return undefined;
    value = ownValue(value, name);
  }
  return value;
}

/** The string at a path, or `''`. */
export function textAt(fields: unknown, ...path: readonly string[]): string {
  const value = valueAt(fields, ...path);
  return typeof value === 'string' ? value : '';
}

/** The number at a path, or 0; the nearest one to an integer beyond 2^53. */
export function numberAt(fields: unknown, ...path: readonly string[]): number {
  const value = valueAt(fields, ...path);
  return typeof value === 'number' || typeof value === 'bigint' ? Number(value) : 0;
}

/** The object at a path, or an empty one. */
export function mapAt(fields: unknown, ...path: readonly string[]): MutableJsonMap {
  const value = valueAt(fields, ...path);
  return isMap(value) ? value : {};
}

/** Whether a condition of the object is true. */
export function hasCondition(object: unknown, type: string): boolean {
  return mapsAt(object, 'status', 'conditions').find((condition) => condition['type'] === type)?.['status'] === 'True';
}

/** The objects in the list at a path; other values are left out. */
export function mapsAt(fields: unknown, ...path: readonly string[]): readonly MutableJsonMap[] {
  const value = valueAt(fields, ...path);
  return Array.isArray(value) ? value.filter(isMap) : [];
}
