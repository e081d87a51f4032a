/** The types of values, as far as ownership depends on them (upstream `structured-merge-diff/schema`). */
import { isMap, type JsonMap } from '../../../machinery/api/json-map.ts';
import type { FieldSet } from './field-set.ts';

export type Scalar = 'string' | 'numeric' | 'boolean' | 'untyped';

export interface ListType {
  /** An atomic list is one value; elements of the others are identified by their value or their keys. */
  readonly kind: 'atomic' | 'set' | 'map';
  /** The fields that identify an element of a list of kind `map`. */
  readonly keys: readonly string[];
  /** Values of keys that an element omits. */
  readonly keyDefaults: Readonly<Record<string, unknown>>;
  readonly element: () => ValueType;
}

export interface MapType {
  readonly atomic: boolean;
  /** The type of a declared field; undefined for an undeclared one. */
  readonly field: (name: string) => ValueType | undefined;
  /** The type of undeclared fields; undefined if they are not allowed. */
  readonly element: (() => ValueType) | undefined;
  /** Fields that are null rather than absent when they are empty. */
  readonly nullable: readonly string[];
}

/** A type allows one or several forms of values. */
export interface ValueType {
  readonly scalar?: Scalar;
  readonly list?: ListType;
  readonly map?: MapType;
}

/** A version of a kind in which managers own fields. */
export interface Version {
  readonly apiVersion: string;
  readonly type: ValueType;
  /** Paths that the endpoint of the request resets, and that are therefore not tracked. */
  readonly reset: FieldSet;
}

export interface Versions {
  /** Undefined if the kind is not served in that version. */
  find(apiVersion: string): Version | undefined;
  /** The object in another version. Both versions are served. */
  convert(object: JsonMap, from: string, to: string): JsonMap;
}

export type Form = 'scalar' | 'list' | 'map';

/**
 * The form in which a value is read: its own if the type allows that, otherwise the first one of the type. Null and absent
 * values have no form of their own.
 */
export function formOf(type: ValueType, value: unknown): Form {
  if (type.scalar !== undefined && isScalar(value)) return 'scalar';
  if (type.list !== undefined && Array.isArray(value)) return 'list';
  if (type.map !== undefined && isMap(value)) return 'map';
  if (type.map !== undefined) return 'map';
  return type.scalar === undefined ? 'list' : 'scalar';
}

export function isScalar(value: unknown): boolean {
  return ['string', 'number', 'bigint', 'boolean'].includes(typeof value);
}

/** The type of a field of an object; undefined if the field is not allowed. */
export function fieldType(map: MapType, name: string): ValueType | undefined {
  return map.field(name) ?? map.element?.();
}

const atomicList: ListType = { kind: 'atomic', keys: [], keyDefaults: {}, element: () => anyAtomic };

/** Any value, as one. */
const anyAtomic: ValueType = {
  scalar: 'untyped',
  list: atomicList,
  map: { atomic: true, field: () => undefined, element: () => anyAtomic, nullable: [] },
};

/** Any value: objects field by field, lists as one (upstream `__untyped_deduced_`). */
export const anyValue: ValueType = {
  scalar: 'untyped',
  list: atomicList,
  map: { atomic: false, field: () => undefined, element: () => anyValue, nullable: [] },
};
