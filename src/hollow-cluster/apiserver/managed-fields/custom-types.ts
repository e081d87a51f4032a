/** Value types of custom resources, from their structural schema. */
import { getOrInsert } from '../../../machinery/api/get-or-insert.ts';
import { isMap, type JsonMap, listOf, mapOf, ownValue, textOf } from '../../../machinery/api/json-map.ts';
import { metadataType } from './message-types.ts';
import { anyValue, type ListType, type MapType, type Scalar, type ValueType } from './value-type.ts';

const scalars: Readonly<Record<string, Scalar>> = {
  string: 'string',
  integer: 'numeric',
  number: 'numeric',
  boolean: 'boolean',
};
const known = new WeakMap<JsonMap, ValueType>();

/** The type of an object of a custom resource with that schema. */
export function typeOfSchema(schema: JsonMap): ValueType {
  return getOrInsert(known, schema, buildType);
}

function buildType(schema: JsonMap): ValueType {
  const { metadata: _metadata, ...properties } = mapOf(schema['properties']);
  const { map } = typeOf({ ...schema, type: 'object', properties });
  const field = (name: string): ValueType | undefined =>
    name === 'metadata' ? metadataType() : name === 'apiVersion' || name === 'kind' ? text : map?.field(name);
  return map === undefined ? anyValue : { map: { ...map, field } };
}

const text: ValueType = { scalar: 'string' };

function typeOf(schema: unknown): ValueType {
  if (!isMap(schema)) return anyValue;
  if (schema['x-kubernetes-int-or-string'] === true) return { scalar: 'untyped' };
  const type = textOf(schema['type']);
  if (type === 'object') return { map: mapType(schema) };
  if (type === 'array') return { list: listType(schema) };
  const scalar = ownValue(scalars, type);
  if (scalar === undefined) return anyValue;
  return { scalar: scalar === 'string' && !['', 'byte'].includes(textOf(schema['format'])) ? 'untyped' : scalar };
}

function mapType(schema: JsonMap): MapType {
  const properties = mapOf(schema['properties']);
  const types = new Map<string, ValueType>();
  return {
    atomic: schema['x-kubernetes-map-type'] === 'atomic',
    nullable: [],
    element: elementOf(schema, properties),
    field: (name) => {
      if (!Object.hasOwn(properties, name)) return undefined;
      return getOrInsert(types, name, () => typeOf(ownValue(properties, name)));
    },
  };
}

/** An object without any declaration takes any field. */
function elementOf(schema: JsonMap, properties: JsonMap): MapType['element'] {
  const { additionalProperties } = schema;
  if (isMap(additionalProperties)) {
    const type = typeOf(additionalProperties);
    return () => type;
  }
  if (additionalProperties === true || schema['x-kubernetes-preserve-unknown-fields'] === true) return () => anyValue;
  const free = additionalProperties === undefined && Object.keys(properties).length === 0;
  return free ? () => anyValue : undefined;
}

function listType(schema: JsonMap): ListType {
  const element = typeOf(schema['items']);
  const given = textOf(schema['x-kubernetes-list-type']);
  const keys = listOf(schema['x-kubernetes-list-map-keys']).filter((key) => typeof key === 'string');
  const properties = mapOf(mapOf(schema['items'])['properties']);
  const defaults = keys.map((key) => [key, mapOf(ownValue(properties, key))['default']] as const);
  return {
    kind: given === 'set' || given === 'map' ? given : 'atomic',
    keys: given === 'map' ? keys : [],
    keyDefaults: Object.fromEntries(defaults.filter(([, value]) => value !== undefined)),
    element: () => element,
  };
}
