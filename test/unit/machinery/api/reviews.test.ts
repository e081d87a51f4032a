import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  subjectAccessReview,
  tokenReview,
  transformAccessReview,
  transformTokenReview,
} from '../../../../src/machinery/api/reviews.ts';

test('a TokenReview authenticates the user', () => {
  const user = { username: 'a', uid: 'u', groups: ['g'], extra: { scope: ['x', 'y'] } };
  assert.deepEqual(transformTokenReview({ status: { authenticated: true, user } }), { authenticated: true, user });
  assert.deepEqual(transformTokenReview({ status: { authenticated: true, user: { username: 'a' } } }), {
    authenticated: true,
    user: { username: 'a', uid: '', groups: [], extra: {} },
  });
});

test('a missing or malformed status is not authenticated', () => {
  const unauthenticated = { authenticated: false, error: '' };
  for (const answer of [
    {},
    { status: null },
    { status: 'authenticated' },
    { status: { authenticated: 'true', user: { username: 'a' } } },
    { status: { authenticated: true } },
    { status: { authenticated: true, user: { username: '' } } },
    { status: { authenticated: true, user: { username: 7 } } },
  ])
    assert.deepEqual(transformTokenReview(answer), unauthenticated, JSON.stringify(answer));
  assert.deepEqual(transformTokenReview({ status: { error: 'expired' } }), { authenticated: false, error: 'expired' });
});

test('only allowed: true allows', () => {
  assert.equal(transformAccessReview({ status: { allowed: true } }).allowed, true);
  for (const answer of [
    {},
    { status: {} },
    { status: { allowed: false } },
    { status: { allowed: 'true' } },
    { status: { allowed: true, denied: true } },
  ])
    assert.equal(transformAccessReview(answer).allowed, false, JSON.stringify(answer));
  assert.deepEqual(transformAccessReview({ status: { reason: 'no rule' } }), { allowed: false, reason: 'no rule' });
});

test('a SubjectAccessReview contains the complete user', () => {
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

test('a TokenReview for an audience authenticates only if the response confirms the audience', () => {
  assert.deepEqual(tokenReview('t'), {
    apiVersion: 'authentication.k8s.io/v1',
    kind: 'TokenReview',
    metadata: {},
    spec: { token: 't' },
  });
  const { spec } = tokenReview('t', 'pages') as { spec: unknown };
  assert.deepEqual(spec, { token: 't', audiences: ['pages'] });
  const status = { authenticated: true, user: { username: 'a' } };
  for (const audiences of [undefined, [], ['other'], 'pages', [['pages']]]) {
    const { authenticated } = transformTokenReview({ status: { ...status, audiences } }, 'pages');
    assert.equal(authenticated, false, JSON.stringify(audiences));
  }
  const confirmed = { status: { ...status, audiences: ['other', 'pages'] } };
  assert.equal(transformTokenReview(confirmed, 'pages').authenticated, true);
});
