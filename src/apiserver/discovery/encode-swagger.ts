/**
 * The protobuf form of an OpenAPI v2 document: `Document` of gnostic's `openapiv2/OpenAPIv2.proto`, the only form that
 * client-go requests.
 */
import { ownValue } from '../../api/json-map.ts';
import type { JsonMap } from '../../api/json-map.ts';
import { isMap, mapAt, mapsAt } from '../select-field.ts';

type Kind = 'any' | 'anys' | 'count' | 'flag' | 'number' | 'text' | 'texts';

/** A field by its name in JSON: its number, and how its value is written. */
type Fields = Readonly<Record<string, readonly [number, Kind]>>;

const lengthDelimited = 2;
const fixed64 = 1;
const wireTypeBits = 3;
const continued = 0x80;
const doubleBytes = 8;

const infoFields: Fields = { title: [1, 'text'], version: [2, 'text'] };

const operationFields: Fields = {
  description: [3, 'text'],
  operationId: [5, 'text'],
  produces: [6, 'texts'],
  consumes: [7, 'texts'],
};

const bodyFields: Fields = { description: [1, 'text'], name: [2, 'text'], in: [3, 'text'], required: [4, 'flag'] };

/** Those of query parameters; a path parameter has no `allowEmptyValue`, so that its other numbers are one less. */
const queryFields: Fields = {
  required: [1, 'flag'],
  in: [2, 'text'],
  description: [3, 'text'],
  name: [4, 'text'],
  type: [6, 'text'],
  uniqueItems: [20, 'flag'],
};
const pathFields: Fields = { ...queryFields, type: [5, 'text'], uniqueItems: [19, 'flag'] };

const schemaFields: Fields = {
  $ref: [1, 'text'],
  format: [2, 'text'],
  title: [3, 'text'],
  description: [4, 'text'],
  default: [5, 'any'],
  multipleOf: [6, 'number'],
  maximum: [7, 'number'],
  exclusiveMaximum: [8, 'flag'],
  minimum: [9, 'number'],
  exclusiveMinimum: [10, 'flag'],
  maxLength: [11, 'count'],
  minLength: [12, 'count'],
  pattern: [13, 'text'],
  maxItems: [14, 'count'],
  minItems: [15, 'count'],
  uniqueItems: [16, 'flag'],
  maxProperties: [17, 'count'],
  minProperties: [18, 'count'],
  required: [19, 'texts'],
  enum: [20, 'anys'],
};
/** The numbers of the fields that are messages. */
const document = { info: 2, paths: 8, definitions: 9 } as const;
const schemaParts = { additionalProperties: 21, type: 22, items: 23, properties: 25, extensions: 31 } as const;
const methods = { get: 2, put: 3, post: 4, delete: 5, patch: 8 } as const;
const pathItemParameters = 9;
const operationParts = { parameters: 8, responses: 9, extensions: 13 } as const;

/** The bytes of `swagger`, which `buildSwagger` made. */
export function encodeSwagger(swagger: JsonMap): Buffer {
  return Buffer.concat([
    ...plainFields(swagger, { swagger: [1, 'text'] }),
    message(document.info, plainFields(mapAt(swagger, 'info'), infoFields)),
    message(document.paths, namedParts(mapAt(swagger, 'paths'), 2, pathItem)),
    message(document.definitions, namedParts(mapAt(swagger, 'definitions'), 1, schema)),
  ]);
}

function schema(value: JsonMap): readonly Buffer[] {
  const { additionalProperties: more, type, items, properties } = value;
  return [
    ...plainFields(value, schemaFields),
    ...(isMap(more) ? [message(schemaParts.additionalProperties, [message(1, schema(more))])] : []),
    ...(typeof more === 'boolean' ? [message(schemaParts.additionalProperties, plainField([2, 'flag'], more))] : []),
    ...(typeof type === 'string' ? [message(schemaParts.type, plainField([1, 'text'], type))] : []),
    ...(isMap(items) ? [message(schemaParts.items, [message(1, schema(items))])] : []),
    ...(isMap(properties) ? [message(schemaParts.properties, namedParts(properties, 1, schema))] : []),
    ...extensions(value, schemaParts.extensions),
  ];
}

function pathItem(item: JsonMap): readonly Buffer[] {
  const operations = Object.entries(methods).flatMap(([method, id]) => {
    const found = ownValue(item, method);
    return isMap(found) ? [message(id, operation(found))] : [];
  });
  return [...operations, ...mapsAt(item, 'parameters').map((each) => message(pathItemParameters, [parameter(each)]))];
}

function operation(value: JsonMap): readonly Buffer[] {
  return [
    ...plainFields(value, operationFields),
    ...mapsAt(value, 'parameters').map((each) => message(operationParts.parameters, [parameter(each)])),
    message(operationParts.responses, namedParts(mapAt(value, 'responses'), 1, response)),
    ...extensions(value, operationParts.extensions),
  ];
}

/** A `Parameter`, in a `ParametersItem`. */
function parameter(value: JsonMap): Buffer {
  if (value['in'] === 'body') {
    const body = [...plainFields(value, bodyFields), message(5, schema(mapAt(value, 'schema')))];
    return message(1, [message(1, body)]);
  }
  const inPath = value['in'] === 'path';
  const other = message(inPath ? 4 : 3, plainFields(value, inPath ? pathFields : queryFields));
  return message(1, [message(2, [other])]);
}

/** A `Response`, in a `ResponseValue`. */
function response(value: JsonMap): readonly Buffer[] {
  const content = isMap(value['schema']) ? [message(2, [message(1, schema(value['schema']))])] : [];
  return [message(1, [...plainFields(value, { description: [1, 'text'] }), ...content])];
}

/** The entries of a map, each as a message with name and value. */
function namedParts(map: JsonMap, id: number, encode: (value: JsonMap) => readonly Buffer[]): readonly Buffer[] {
  return Object.entries(map).map(([name, value]) =>
    message(id, [...plainField([1, 'text'], name), message(2, isMap(value) ? encode(value) : [])]),
  );
}

function extensions(value: JsonMap, id: number): readonly Buffer[] {
  return Object.entries(value)
    .filter(([name]) => name.startsWith('x-'))
    .map(([name, content]) => message(id, [...plainField([1, 'text'], name), ...plainField([2, 'any'], content)]));
}

function plainFields(value: JsonMap, fields: Fields): readonly Buffer[] {
  return Object.entries(fields).flatMap(([name, field]) => plainField(field, ownValue(value, name)));
}

/** A value that is absent, empty, false or of another type is not written. */
function plainField([id, kind]: readonly [number, Kind], value: unknown): readonly Buffer[] {
  if (kind === 'anys') return asList(value).flatMap((one) => plainField([id, 'any'], one));
  if (kind === 'texts') return asList(value).flatMap((one) => plainField([id, 'text'], one));
  // JSON is YAML.
  if (kind === 'any') return value === undefined ? [] : [message(id, plainField([2, 'text'], JSON.stringify(value)))];
  if (kind === 'flag') return value === true ? [varint(id << wireTypeBits), varint(1)] : [];
  if (typeof value === 'number') return numberField(id, kind, value);
  return typeof value === 'string' && value !== '' ? [message(id, [Buffer.from(value)])] : [];
}

function numberField(id: number, kind: Kind, value: number): readonly Buffer[] {
  if (kind === 'count') return [varint(id << wireTypeBits), varint(value)];
  return [varint((id << wireTypeBits) | fixed64), double(value)];
}

function asList(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

function message(id: number, parts: readonly Buffer[]): Buffer {
  const length = parts.reduce((sum, part) => sum + part.length, 0);
  return Buffer.concat([varint((id << wireTypeBits) | lengthDelimited), varint(length), ...parts]);
}

function varint(value: number): Buffer {
  const bytes: number[] = [];
  let rest = value;
  for (; rest >= continued; rest = Math.floor(rest / continued)) bytes.push((rest % continued) | continued);
  return Buffer.from([...bytes, rest]);
}

function double(value: number): Buffer {
  const bytes = Buffer.alloc(doubleBytes);
  bytes.writeDoubleLE(value);
  return bytes;
}
