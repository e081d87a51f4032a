import assert from 'node:assert/strict';
import { test } from 'node:test';
import { validateReview } from '../../../../../src/hollow-cluster/apiserver/authorization/validate-review.ts';

const resourceAttributes = { verb: 'get', resource: 'pods', namespace: 'a' };
const nonResourceAttributes = { verb: 'get', path: '/' };

function problems(kind: string, spec: object, metadata: object = {}): readonly string[] {
  return validateReview(kind, { metadata, spec }).map(({ field, message }) => `${field}: ${message}`);
}

test('exactly one of resource and path', () => {
  assert.deepEqual(problems('SelfSubjectAccessReview', { resourceAttributes }), []);
  assert.deepEqual(problems('SelfSubjectAccessReview', { nonResourceAttributes }), []);
  assert.deepEqual(problems('SelfSubjectAccessReview', {}), [
    'spec: Invalid value: null: exactly one of nonResourceAttributes or resourceAttributes must be specified',
  ]);
  assert.match(
    problems('SelfSubjectAccessReview', { resourceAttributes, nonResourceAttributes }).join(),
    /^spec: .*exactly one of nonResourceAttributes or resourceAttributes must be specified$/,
  );
});

test('the review of another user names a user or a group', () => {
  assert.deepEqual(problems('SubjectAccessReview', { resourceAttributes }), [
    'spec.user: Invalid value: "": at least one of user or group must be specified',
  ]);
  assert.deepEqual(problems('SubjectAccessReview', { resourceAttributes, groups: ['g'] }), []);
  assert.deepEqual(problems('SubjectAccessReview', { resourceAttributes, user: 'u' }), []);
});

test('a review has no metadata, but that of a namespace its namespace', () => {
  assert.deepEqual(problems('SelfSubjectAccessReview', { resourceAttributes }, { name: 'x' }), [
    'metadata: Invalid value: {"name":"x"}: must be empty',
  ]);
  const local = 'LocalSubjectAccessReview';
  assert.deepEqual(problems(local, { resourceAttributes, user: 'u' }, { namespace: 'a' }), []);
  assert.deepEqual(problems(local, { resourceAttributes, user: 'u' }, { namespace: 'b', name: 'x' }), [
    'metadata: Invalid value: {"namespace":"b","name":"x"}: must be empty except for namespace',
    'spec.resourceAttributes.namespace: Invalid value: "a": must match metadata.namespace',
  ]);
  assert.match(
    problems(local, { nonResourceAttributes, user: 'u' }, { namespace: 'a' }).join(),
    /^spec.nonResourceAttributes: .*disallowed on this kind of request$/,
  );
});
