// A JSON schema as the structural schema of a CustomResourceDefinition. Keywords that it does not know are errors: a field
// that the API server would not validate must not go unnoticed.
import { goDurationText } from '../../src/machinery/api/go-duration.ts';
import { isMap, type JsonMap, listOf, mapOf } from '../../src/machinery/api/json-map.ts';
import { buildKeyRule, buildMinimumRule, type CelRule, durationRule } from './build-cel-rules.ts';

/** Kept as they are. */
const plain: ReadonlySet<string> = new Set([
  'type',
  'description',
  'enum',
  'required',
  'pattern',
  'minLength',
  'maxLength',
  'minItems',
  'maxItems',
  'minProperties',
  'maxProperties',
  'minimum',
  'maximum',
]);

/** Converted or left out below. */
const converted: ReadonlySet<string> = new Set([
  '$schema',
  'properties',
  'items',
  'additionalProperties',
  'propertyNames',
  'allOf',
  'exclusiveMinimum',
  'exclusiveMaximum',
]);

/** `path`: below the spec, `[]` for items. Throws for what a structural schema cannot express, and for rules without a field. */
export function buildStructuralSchema(schema: JsonMap, rules: readonly CelRule[]): JsonMap {
  const used = new Set<CelRule>();
  const structural = convert(schema, '', { rules, used });
  const unused = rules.filter((rule) => !used.has(rule)).map(({ path }) => path);
  if (unused.length > 0) throw new Error(`rules of fields that the schema does not have: ${unused.join(', ')}`);
  return structural;
}

interface SchemaContext {
  readonly rules: readonly CelRule[];
  readonly used: Set<CelRule>;
}

function convert(schema: JsonMap, path: string, context: SchemaContext): JsonMap {
  const unknown = Object.keys(schema).filter((key) => !plain.has(key) && !converted.has(key));
  if (unknown.length > 0) throw new Error(`${path}: a CustomResourceDefinition has no ${unknown.join(', ')}`);
  if (typeof schema['type'] !== 'string') throw new Error(`${path}: a CustomResourceDefinition needs one type`);
  const kept = Object.entries(schema).filter(([key, value]) => plain.has(key) && isBound(key, value));
  return {
    ...Object.fromEntries(kept),
    ...exclusive(schema),
    ...partsOf(schema, path, context),
    ...validationsOf(schema, path, context),
  };
}

/** The bounds of all numbers bind nothing. */
function isBound(key: string, value: unknown): boolean {
  return !((key === 'minimum' || key === 'maximum') && Math.abs(Number(value)) === Number.MAX_VALUE);
}

/** Numbers in JSON schema, flags beside the bound in OpenAPI v3. */
function exclusive({ exclusiveMinimum, exclusiveMaximum }: JsonMap): JsonMap {
  return {
    ...(exclusiveMinimum === undefined ? {} : { minimum: exclusiveMinimum, exclusiveMinimum: true }),
    ...(exclusiveMaximum === undefined ? {} : { maximum: exclusiveMaximum, exclusiveMaximum: true }),
  };
}

function partsOf(schema: JsonMap, path: string, context: SchemaContext): JsonMap {
  const { properties, items, additionalProperties, allOf } = schema;
  const fields = Object.entries(mapOf(properties)).map(([name, field]) => {
    return [name, convert(mapOf(field), path === '' ? name : `${path}.${name}`, context)];
  });
  return {
    ...(properties === undefined ? {} : { properties: Object.fromEntries(fields) }),
    ...(items === undefined ? {} : { items: convert(mapOf(items), `${path}[]`, context) }),
    // False is what structural schemas mean anyway: other fields are pruned, or refused by field validation.
    ...(isMap(additionalProperties)
      ? { additionalProperties: convert(additionalProperties, `${path}{}`, context) }
      : {}),
    ...(allOf === undefined ? {} : { allOf: listOf(allOf).map((part) => withoutType(mapOf(part))) }),
  };
}

/** Types are outside of `allOf`. */
function withoutType({ type: _type, ...rest }: JsonMap): JsonMap {
  return rest;
}

function validationsOf(schema: JsonMap, path: string, { rules, used }: SchemaContext): JsonMap {
  const own = rules.filter((rule) => rule.path === path);
  for (const rule of own) used.add(rule);
  const keyPattern = mapOf(schema['propertyNames'])['pattern'];
  const all = [
    ...own.map(({ path: _path, ...rest }) => rest),
    ...(isDuration(schema) ? [durationRule] : []),
    ...(isFraction(schema['minimum']) ? [buildMinimumRule(Number(schema['minimum']))] : []),
    ...(typeof keyPattern === 'string' ? [buildKeyRule(keyPattern)] : []),
  ];
  return all.length === 0 ? {} : { 'x-kubernetes-validations': all };
}

function isFraction(bound: unknown): boolean {
  return typeof bound === 'number' && !Number.isInteger(bound);
}

function isDuration({ pattern, allOf }: JsonMap): boolean {
  const patterns = [pattern, ...listOf(allOf).map((part) => mapOf(part)['pattern'])];
  return patterns.includes(goDurationText.source);
}
