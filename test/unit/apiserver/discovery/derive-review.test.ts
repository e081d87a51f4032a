import assert from 'node:assert/strict';
import { test } from 'node:test';
import { deriveReview } from '../../../../src/apiserver/discovery/derive-review.ts';
import { servedResources } from '../../../../src/apiserver/discovery/served-resources.ts';

const admin = { name: 'admin', groups: ['system:masters', 'system:authenticated'] };

test('everything is allowed, and the question comes back with the answer', () => {
  const spec = { resourceAttributes: { verb: 'list', resource: 'nodes' } };
  const review = deriveReview('SelfSubjectAccessReview', { metadata: {}, spec }, admin);
  assert.equal(review?.apiVersion, 'authorization.k8s.io/v1');
  assert.deepEqual(review?.spec, spec);
  assert.equal(review?.status['allowed'], true);
});

test('the rules say the same', () => {
  assert.deepEqual(deriveReview('SelfSubjectRulesReview', { spec: { namespace: 'default' } }, admin)?.status, {
    resourceRules: [{ verbs: ['*'], apiGroups: ['*'], resources: ['*'] }],
    nonResourceRules: [{ verbs: ['*'], nonResourceURLs: ['*'] }],
    incomplete: false,
  });
});

test('who am I', () => {
  assert.deepEqual(deriveReview('SelfSubjectReview', {}, { ...admin, uid: 'u-1' }), {
    kind: 'SelfSubjectReview',
    apiVersion: 'authentication.k8s.io/v1',
    metadata: {},
    status: { userInfo: { username: 'admin', uid: 'u-1', groups: admin.groups } },
  });
});

test('answers exactly what the table serves as reviews', () => {
  for (const { kind, review } of servedResources) {
    assert.equal(deriveReview(kind, {}, admin) !== undefined, review, kind);
  }
});
