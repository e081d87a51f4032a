import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as z from 'zod';
import { buildStructuralSchema } from '../../../../tools/manifests/build-structural-schema.ts';
import { policyCrd } from '../../../../tools/manifests/policy-crd.ts';
import { policySpecSchema } from '../../../../src/policy/schema/policy-schema.ts';

// The definition is read field by field, and a wrong type fails the test.
// oxlint-disable-next-line typescript/no-explicit-any
type Json = any;

const crd: Json = policyCrd();
const [version]: Json = crd.spec.versions;
const { spec, status }: Json = version.schema.openAPIV3Schema.properties;

/** Every schema below this one, with its path. */
function* schemasBelow(schema: Json, path: string): Generator<readonly [string, Json]> {
  yield [path, schema];
  for (const [name, field] of Object.entries(schema.properties ?? {})) yield* schemasBelow(field, `${path}.${name}`);
  if (schema.items !== undefined) yield* schemasBelow(schema.items, `${path}[]`);
  if (schema.additionalProperties !== undefined) yield* schemasBelow(schema.additionalProperties, `${path}{}`);
}

test('the definition is cluster-scoped, named nlp for short, and has a status subresource and columns', () => {
  assert.equal(crd.metadata.name, `${crd.spec.names.plural}.${crd.spec.group}`);
  assert.deepEqual(
    [crd.spec.scope, crd.spec.names.shortNames, version.subresources],
    ['Cluster', ['nlp'], { status: {} }],
  );
  const names = version.additionalPrinterColumns.map(({ name }: Json) => name);
  assert.deepEqual(names, ['Mode', 'Priority', 'Nodes', 'Unhealthy', 'Held', 'Breaker', 'Accepted', 'Reason', 'Age']);
});

test('the spec has every field of a policy but its name, each with a description', () => {
  assert.deepEqual(Object.keys(spec.properties), Object.keys(policySpecSchema.shape));
  assert.deepEqual(spec.required, ['nodeSelector']);
  for (const [path, schema] of [...schemasBelow(spec, 'spec'), ...schemasBelow(status, 'status')])
    if (!path.endsWith('[]') && !path.endsWith('{}')) assert.equal(typeof schema.description, 'string', path);
});

test('every schema is structural: a type, no lookahead, and bounds for what rules read', () => {
  for (const [path, schema] of schemasBelow(spec, 'spec')) {
    assert.equal(typeof schema.type, 'string', path);
    assert.notEqual(schema.additionalProperties, false, path);
    const patterns = [schema, ...(schema.allOf ?? [])].map(({ pattern }: Json) => String(pattern));
    for (const pattern of patterns) assert.doesNotMatch(pattern, /\(\?[=!<]/u, path);
    if (schema.type === 'string' && schema.enum === undefined) assert.ok(schema.maxLength > 0, `${path}: maxLength`);
    if (schema.type === 'array') assert.ok(schema.maxItems > 0, `${path}: maxItems`);
    if (schema.additionalProperties !== undefined) assert.ok(schema.maxProperties > 0, `${path}: maxProperties`);
  }
});

test('durations, keys of labels and the relations between fields have rules with a message', () => {
  const rules = [...schemasBelow(spec, 'spec')].flatMap(([path, schema]) =>
    (schema['x-kubernetes-validations'] ?? []).map((rule: Json) => [path, rule] as const),
  );
  for (const [path, { rule, message }] of rules) assert.ok(rule !== '' && message !== '', path);
  const paths = new Set(rules.map(([path]) => path));
  for (const path of [
    'spec.nodeSelector',
    'spec.nodeSelector.matchLabels',
    'spec.nodeSelector.matchExpressions[]',
    'spec.nodeMonitorGracePeriod',
    'spec.maintenance',
    'spec.maintenance.maxDuration',
    'spec.maintenance.conditions[]',
    'spec.outOfService.taints[]',
    'spec.limits.maxUnhealthy',
    'spec.limits.cooldown',
  ])
    assert.ok(paths.has(path), path);
});

test('what a structural schema cannot express is an error, and so is a rule without a field', () => {
  const toJson = (schema: z.ZodType): Json => z.toJSONSchema(schema, { target: 'draft-7', io: 'input' });
  const union = z.union([z.object({ b: z.string() }), z.string()]);
  assert.throws(() => buildStructuralSchema(toJson(z.object({ a: union })), []), /^Error: a: .* has no anyOf$/u);
  const twoTypes = z.union([z.string(), z.number()]);
  assert.throws(() => buildStructuralSchema(toJson(z.object({ a: twoTypes })), []), /^Error: a: .* needs one type$/u);
  const rule = { path: 'b', rule: 'true', message: 'must be' };
  assert.throws(() => buildStructuralSchema(toJson(z.object({ a: z.string() })), [rule]), /does not have: b/u);
});

test('an exclusive bound is a bound with a flag, and bounds of all numbers are left out', () => {
  const schema = z.object({ a: z.number().gt(1), b: z.number().max(Number.MAX_VALUE) });
  const { properties }: Json = buildStructuralSchema(z.toJSONSchema(schema, { target: 'draft-7' }) as Json, []);
  assert.deepEqual(properties.a, { type: 'number', minimum: 1, exclusiveMinimum: true });
  assert.deepEqual(properties.b, { type: 'number' });
});
