/**
 * OpenAPI v2 from the v3 documents of all group versions. kubectl reads it for what v3 has no rule for: it checks objects of
 * unknown kinds and the items of a `List` by it. What v2 cannot express is left out (upstream `ToStructuralOpenAPIV2`).
 */
import { ownValue, setOwn } from '../../api/json-map.ts';
import type { JsonMap } from '../../api/json-map.ts';
import { isMap, mapAt, mapsAt, textAt } from '../select-field.ts';

const v3Schemas = '#/components/schemas/';
const v2Schemas = '#/definitions/';
const kindsOf = 'x-kubernetes-group-version-kind';
const jsonTypes = ['application/json'];
/** Alternatives, which v2 has no words for. */
const alternatives: ReadonlySet<string> = new Set(['allOf', 'anyOf', 'nullable', 'not', 'oneOf']);

/** A document with the paths and schemas of all these, which are in OpenAPI v3. */
export function buildSwagger(info: JsonMap, documents: readonly JsonMap[]): JsonMap {
  const definitions: Record<string, JsonMap> = {};
  for (const document of documents) {
    for (const [name, schema] of Object.entries(mapAt(document, 'components', 'schemas'))) {
      if (isMap(schema)) setOwn(definitions, name, mergeKinds(ownValue(definitions, name), toV2(schema)));
    }
  }
  const paths = documents.flatMap((document) => Object.entries(mapAt(document, 'paths')));
  return {
    swagger: '2.0',
    info,
    paths: Object.fromEntries(paths.map(([path, item]) => [path, pathItem(path, isMap(item) ? item : {})])),
    definitions: Object.fromEntries(Object.entries(definitions).sort(([a], [b]) => (a < b ? -1 : 1))),
  };
}

/** A type such as DeleteOptions is a kind in each group version. */
function mergeKinds(known: JsonMap | undefined, schema: JsonMap): JsonMap {
  const kinds = new Map(
    [...mapsAt(known, kindsOf), ...mapsAt(schema, kindsOf)].map((kind) => [JSON.stringify(kind), kind]),
  );
  return kinds.size === 0 ? schema : { ...schema, [kindsOf]: [...kinds.values()] };
}

function pathItem(path: string, item: JsonMap): JsonMap {
  const parameters = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => ({
    name,
    in: 'path',
    required: true,
    type: 'string',
    uniqueItems: true,
  }));
  const operations = Object.entries(item).map(([method, value]) => [method, isMap(value) ? operation(value) : {}]);
  return { ...Object.fromEntries(operations), ...(parameters.length === 0 ? {} : { parameters }) };
}

function operation({ requestBody, parameters, responses, ...others }: JsonMap): JsonMap {
  const content = mapAt(requestBody, 'content');
  const [sent] = Object.values(content);
  const required = mapAt(requestBody)['required'] === true;
  const body = { name: 'body', in: 'body', required, schema: toV2(mapAt(sent, 'schema')) };
  const query = mapsAt({ parameters }, 'parameters').map(({ schema, ...each }) => ({ ...each, ...mapAt(schema) }));
  const answers = Object.entries(mapAt(responses)).map(([code, value]) => [code, response(mapAt(value))]);
  return {
    ...others,
    consumes: sent === undefined ? ['*/*'] : Object.keys(content),
    produces: jsonTypes,
    parameters: [...(sent === undefined ? [] : [body]), ...query],
    responses: Object.fromEntries(answers),
  };
}

function response({ content, ...others }: JsonMap): JsonMap {
  const [returned] = Object.values(mapAt(content));
  return { ...others, ...(returned === undefined ? {} : { schema: toV2(mapAt(returned, 'schema')) }) };
}

/** A schema that every value satisfies is one without type. */
function toV2(schema: JsonMap): JsonMap {
  const [reference] = mapsAt(schema, 'allOf');
  const entries = Object.entries(schema).filter(([name]) => !alternatives.has(name));
  const kept: JsonMap = Object.fromEntries(entries);
  if (reference !== undefined && textAt(reference, '$ref') !== '') return { ...toV2(reference), ...kept };
  if (isTextOrNumber(schema)) return { ...kept, type: 'string' };
  if (isAnything(schema)) return withoutShape(kept);
  return Object.fromEntries(entries.map(([name, value]) => [name, toV2Value(name, value)]));
}

function toV2Value(name: string, value: unknown): unknown {
  if (name === '$ref' && typeof value === 'string') return value.replace(v3Schemas, v2Schemas);
  if (name === 'properties') {
    return Object.fromEntries(Object.entries(mapAt(value)).map(([field, inner]) => [field, toV2(mapAt(inner))]));
  }
  return (name === 'items' || name === 'additionalProperties') && isMap(value) ? toV2(value) : value;
}

/** Quantities and values such as `maxUnavailable`: clients accept a number where a string is expected. */
function isTextOrNumber(schema: JsonMap): boolean {
  const types = mapsAt(schema, 'oneOf').map((each) => textAt(each, 'type'));
  return types.includes('string') && types.every((type) => ['string', 'integer', 'number'].includes(type));
}

function isAnything(schema: JsonMap): boolean {
  const free = ['nullable', 'x-kubernetes-int-or-string', 'x-kubernetes-preserve-unknown-fields'];
  return free.some((name) => ownValue(schema, name) === true);
}

function withoutShape(schema: JsonMap): JsonMap {
  const { type: _type, properties: _properties, items: _items, required: _required, ...others } = schema;
  return others;
}
