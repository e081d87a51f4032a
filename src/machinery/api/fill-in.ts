/** Sets defaults of fields: some only where the field is absent, others also where it is zero, as Go omits zeros. */
import { ownValue, setOwn } from './json-map.ts';
import { isMap, type MutableJsonMap, valueAt } from './select-field.ts';

type Defaults = Readonly<Record<string, unknown>>;

/** Sets the fields that `target` does not have. */
export function fillIn(target: MutableJsonMap, defaults: Defaults): MutableJsonMap {
  for (const [field, value] of Object.entries(defaults)) {
    if (value !== undefined && (ownValue(target, field) ?? undefined) === undefined) setOwn(target, field, copy(value));
  }
  return target;
}

/** Sets the fields that are absent, or the zero of the type of their default. */
export function fillZero(target: MutableJsonMap, defaults: Readonly<Record<string, string | number>>): void {
  for (const [field, value] of Object.entries(defaults)) {
    const given = ownValue(target, field) ?? undefined;
    if (given === undefined || given === (typeof value === 'number' ? 0 : '')) setOwn(target, field, value);
  }
}

/** Sets fields of the object at `path`, if there is one. */
export function fillAt(object: unknown, path: readonly string[], defaults: Defaults): void {
  const target = valueAt(object, ...path);
  if (isMap(target)) fillIn(target, defaults);
}

/** The object in that field of `owner`, which gets an empty one if it has none. */
export function ensureMap(owner: MutableJsonMap, field: string): MutableJsonMap {
  const given = ownValue(owner, field);
  if (isMap(given)) return given;
  const made: MutableJsonMap = {};
  setOwn(owner, field, made);
  return made;
}

function copy(value: unknown): unknown {
  return typeof value === 'object' ? structuredClone(value) : value;
}
