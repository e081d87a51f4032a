import assert from 'node:assert/strict';
import { test } from 'node:test';
import { validateSelectors } from '../../../../../src/hollow-cluster/apiserver/authorization/access-reviews.ts';

function problems(attributes: Record<string, unknown>): readonly string[] {
  return validateSelectors(attributes).map(({ field, message }) => `${field}: ${message}`);
}

test('a selector has a raw form or requirements, and these are complete', () => {
  const path = 'spec.resourceAttributes.fieldSelector';
  const of = (fieldSelector: object): readonly string[] => problems({ fieldSelector });
  const requirement = { key: 'a', operator: 'In', values: ['b'] };
  assert.deepEqual(of({ rawSelector: 'a=b' }), []);
  assert.deepEqual(of({ requirements: [requirement, { key: 'a', operator: 'Near' }] }), []);
  assert.deepEqual(of({}), [
    `${path}.requirements: Required value: when ${path} is specified, requirements or rawSelector is required`,
  ]);
  assert.deepEqual(of({ rawSelector: 'a=b', requirements: [requirement] }), [
    `${path}.rawSelector: Invalid value: "a=b": may not specified at the same time as requirements`,
  ]);
  assert.deepEqual(of({ requirements: [{ operator: 'NotIn' }, { ...requirement, operator: 'Exists' }] }), [
    `${path}.requirements[0].values: Required value: must be specified when \`operator\` is 'In' or 'NotIn'`,
    `${path}.requirements[0].key: Required value: must be specified`,
    `${path}.requirements[1].values: Forbidden: may not be specified when \`operator\` is 'Exists' or 'DoesNotExist'`,
  ]);
});

test('a label selector needs qualified names', () => {
  const labelSelector = {
    requirements: [
      { key: 'a b', operator: 'Exists' },
      { key: 'a.b/c', operator: 'Exists' },
    ],
  };
  const found = problems({ labelSelector });
  assert.equal(found.length, 1);
  assert.match(found.join(), /^spec\.resourceAttributes\.labelSelector\.requirements\[0\]\.key: Invalid value: "a b"/);
});
