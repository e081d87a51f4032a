import assert from 'node:assert/strict';
import { test } from 'node:test';
import { subjectAccessReview, viewAccessVerdict, viewTokenVerdict } from '../../../src/api/reviews.ts';

test('whose token it is', () => {
  const user = { username: 'a', uid: 'u', groups: ['g'], extra: { scope: ['x', 'y'] } };
  assert.deepEqual(viewTokenVerdict({ status: { authenticated: true, user } }), { authenticated: true, user });
  assert.deepEqual(viewTokenVerdict({ status: { authenticated: true, user: { username: 'a' } } }), {
    authenticated: true,
    user: { username: 'a', uid: '', groups: [], extra: {} },
  });
});

test('in doubt it is nobodys', () => {
  const nobody = { authenticated: false, error: '' };
  for (const answer of [
    {},
    { status: null },
    { status: 'authenticated' },
    { status: { authenticated: 'true', user: { username: 'a' } } },
    { status: { authenticated: true } },
    { status: { authenticated: true, user: { username: '' } } },
    { status: { authenticated: true, user: { username: 7 } } },
  ])
    assert.deepEqual(viewTokenVerdict(answer), nobody, JSON.stringify(answer));
  assert.deepEqual(viewTokenVerdict({ status: { error: 'expired' } }), { authenticated: false, error: 'expired' });
});

test('only a plain yes allows', () => {
  assert.equal(viewAccessVerdict({ status: { allowed: true } }).allowed, true);
  for (const answer of [
    {},
    { status: {} },
    { status: { allowed: false } },
    { status: { allowed: 'true' } },
    { status: { allowed: true, denied: true } },
  ])
    assert.equal(viewAccessVerdict(answer).allowed, false, JSON.stringify(answer));
  assert.deepEqual(viewAccessVerdict({ status: { reason: 'no rule' } }), { allowed: false, reason: 'no rule' });
});

test('a review carries the whole user', () => {
  const user = { username: 'a', uid: 'u', groups: ['g'], extra: { scope: ['x'] } };
  assert.deepEqual(subjectAccessReview(user, { verb: 'get', path: '/metrics' }), {
    apiVersion: 'authorization.k8s.io/v1',
    kind: 'SubjectAccessReview',
    metadata: {},
    spec: {
      user: 'a',
      uid: 'u',
      groups: ['g'],
      extra: { scope: ['x'] },
      nonResourceAttributes: { path: '/metrics', verb: 'get' },
    },
  });
});
