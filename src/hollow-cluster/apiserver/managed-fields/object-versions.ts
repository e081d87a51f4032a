/** One object in the versions in which managers own fields of it. */
import type { JsonMap } from '../../../machinery/api/json-map.ts';
import type { FieldSet } from './field-set.ts';
import type { ValueType } from './value-type.ts';

/** A version of a kind. */
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
