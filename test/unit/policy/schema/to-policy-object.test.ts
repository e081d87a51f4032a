import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { parse, stringify } from 'yaml';
import { readPolicyInput } from '../../../../src/policy/schema/policy-object-reader.ts';
import { type PolicyInput, policySchema, policySpecSchema } from '../../../../src/policy/schema/policy-schema.ts';
import { toPolicyInput, toPolicyManifest } from '../../../../src/policy/schema/to-policy-object.ts';
import { validatePolicies } from '../../../../src/policy/schema/validate-policies.ts';
import { aPolicy } from '../../../support/policy-arbitraries.ts';

test('file to object to file: nothing is lost or added, through YAML too', () => {
  fc.assert(
    fc.property(aPolicy(), (policy) => {
      assert.deepEqual(toPolicyInput(toPolicyManifest(policy)), policy);
      const manifest: ReturnType<typeof toPolicyManifest> = parse(stringify(toPolicyManifest(policy)));
      assert.deepEqual(toPolicyInput(manifest), policy);
    }),
  );
});

test('object to file to object: the same', () => {
  fc.assert(
    fc.property(aPolicy(), (policy) => {
      const manifest = toPolicyManifest(policy);
      assert.deepEqual(toPolicyManifest(toPolicyInput(manifest)), manifest);
    }),
  );
});

test('the policies of this test are valid as policies of a file and as objects, and set every field', () => {
  const seen = new Set<string>();
  fc.assert(
    fc.property(aPolicy(), (policy) => {
      assert.deepEqual(policySchema.safeParse(policy).error, undefined);
      assert.deepEqual(validatePolicies([policy]), []);
      const read = readPolicyInput(toPolicyManifest(policy));
      assert.deepEqual(read, { input: policy });
      for (const field of Object.keys(policy)) seen.add(field);
    }),
    { numRuns: 500 },
  );
  assert.deepEqual([...seen].sort(), ['name', ...Object.keys(policySpecSchema.shape)].sort());
});

test('a name in the spec is an unknown field, and does not replace the name of the object', () => {
  const spec = { nodeSelector: { matchLabels: { a: 'b' } }, name: 'other' } as unknown as Omit<PolicyInput, 'name'>;
  const read = readPolicyInput({ metadata: { name: 'edge' }, spec });
  assert.ok('problems' in read);
  assert.match(read.problems[0] ?? '', /^spec\.name: unknown field; accepted: priority, nodeSelector/u);
});
