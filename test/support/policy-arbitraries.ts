// Valid policies at random, generated from the schema, so that fields which are added later are covered.
import fc from 'fast-check';
import { type PolicyInput, policySchema } from '../../src/policy/schema/policy-schema.ts';
import { validatePolicies } from '../../src/policy/schema/validate-policies.ts';
import * as z from 'zod';

type Json = Readonly<Record<string, unknown>>;

/** Texts that the patterns of the schema accept; the first that a pattern accepts are used. */
const texts = [
  'edge',
  'pool-7',
  'example.com/pool',
  'MaintenanceInProgress',
  '1m30s',
  '500ms',
  '2h45m',
  '2026-11-23T18:00:00Z',
  '2026-11-23T18:00:00.5+02:00',
  '0 8 * * MON-FRI',
  'Europe/Berlin',
];

/** Policies that the schema and the rules between fields accept. */
export function aPolicy(): fc.Arbitrary<PolicyInput> {
  const schema = z.toJSONSchema(policySchema, { target: 'draft-7', io: 'input' }) as Json;
  return arbitraryOf(schema)
    .filter((value) => policySchema.safeParse(value).success)
    .map((value) => value as PolicyInput)
    .filter((policy) => validatePolicies([policy]).length === 0);
}

function arbitraryOf(schema: Json): fc.Arbitrary<unknown> {
  if (Array.isArray(schema['enum'])) return fc.constantFrom(...(schema['enum'] as readonly unknown[]));
  switch (schema['type']) {
    case 'object':
      return objectOf(schema);
    case 'array':
      return fc.uniqueArray(arbitraryOf(schema['items'] as Json), {
        minLength: Number(schema['minItems'] ?? 0),
        maxLength: 3,
        comparator: (a, b) => JSON.stringify(a) === JSON.stringify(b),
      });
    case 'integer':
      return fc.integer({ min: Number(schema['minimum']), max: Number(schema['maximum']) });
    case 'number':
      return fc
        .double({ min: Number(schema['minimum'] ?? 0), max: Number(schema['maximum']), noNaN: true })
        .map((value) => value + 0); // not -0, which JSON does not have
    case 'boolean':
      return fc.boolean();
    case 'string':
      return fc.constantFrom(...texts.filter((text) => patternsOf(schema).every((pattern) => pattern.test(text))));
    default:
      throw new Error(`no arbitrary for ${JSON.stringify(schema)}`);
  }
}

function objectOf({ properties, required = [], additionalProperties, propertyNames }: Json): fc.Arbitrary<unknown> {
  if (properties === undefined)
    return fc.dictionary(
      arbitraryOf(propertyNames as Json) as fc.Arbitrary<string>,
      arbitraryOf(additionalProperties as Json),
      {
        maxKeys: 3,
        noNullPrototype: true,
      },
    );
  const fields = Object.entries(properties as Readonly<Record<string, Json>>);
  return fc.record(Object.fromEntries(fields.map(([name, field]) => [name, arbitraryOf(field)])), {
    requiredKeys: required as string[],
    noNullPrototype: true,
  });
}

function patternsOf({ pattern, allOf = [] }: Json): readonly RegExp[] {
  const all = [pattern, ...(allOf as readonly Json[]).map((part) => part['pattern'])];
  return all.filter((text) => typeof text === 'string').map((text) => new RegExp(text));
}
