import assert from 'node:assert/strict';
import { test } from 'node:test';
import { buildReview } from '../../../../src/apiserver/discovery/build-review.ts';
import { servedResources } from '../../../../src/apiserver/resources.ts';

const admin = { name: 'admin', groups: ['system:masters', 'system:authenticated'] };

test('SelfSubjectAccessReview: always allowed, and the spec is returned', () => {
  const spec = { resourceAttributes: { verb: 'list', resource: 'nodes' } };
  const review = buildReview('SelfSubjectAccessReview', { metadata: {}, spec }, admin);
  assert.equal(review?.apiVersion, 'authorization.k8s.io/v1');
  assert.deepEqual(review?.spec, spec);
  assert.equal(review?.status['allowed'], true);
});

test('SelfSubjectRulesReview: all verbs on all resources', () => {
  assert.deepEqual(buildReview('SelfSubjectRulesReview', { spec: { namespace: 'default' } }, admin)?.status, {
    resourceRules: [{ verbs: ['*'], apiGroups: ['*'], resources: ['*'] }],
    nonResourceRules: [{ verbs: ['*'], nonResourceURLs: ['*'] }],
    incomplete: false,
  });
});

test('SelfSubjectReview: name, uid and groups of the user', () => {
  assert.deepEqual(buildReview('SelfSubjectReview', {}, { ...admin, uid: 'u-1' }), {
    kind: 'SelfSubjectReview',
    apiVersion: 'authentication.k8s.io/v1',
    metadata: {},
    status: { userInfo: { username: 'admin', uid: 'u-1', groups: admin.groups } },
  });
});

test('every served review kind has a response, and no other kind has', () => {
  for (const { kind, review } of servedResources) {
    assert.equal(buildReview(kind, {}, admin) !== undefined, review, kind);
  }
});
