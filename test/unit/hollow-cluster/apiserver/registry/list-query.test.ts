import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { makeToken, parseListPlan } from '../../../../../src/hollow-cluster/apiserver/registry/list-query.ts';

const plan = (query: Record<string, string>): unknown => parseListPlan(new URLSearchParams(query));

test('each combination of options selects its state', () => {
  assert.deepEqual(plan({ limit: '5' }), { kind: 'now', atLeast: 0, limit: 5 });
  assert.deepEqual(plan({ resourceVersion: '0', limit: '5' }), { kind: 'now', atLeast: 0, limit: 0 });
  assert.deepEqual(plan({ resourceVersion: '7' }), { kind: 'now', atLeast: 7, limit: 0 });
  assert.deepEqual(plan({ resourceVersion: '7', limit: '5' }), { kind: 'exact', revision: 7, atLeast: 7, limit: 5 });
  const notOlder = { resourceVersion: '7', resourceVersionMatch: 'NotOlderThan', limit: '5' };
  assert.deepEqual(plan(notOlder), { kind: 'now', atLeast: 7, limit: 5 });
});

test('parseRevision accepts decimal numbers only', () => {
  for (const resourceVersion of ['abc', '-1', '01', '1.5', '1e3']) {
    assert.throws(() => plan({ resourceVersion }), { code: 400 }, resourceVersion);
  }
});

test('a continue token contains its revision and the key after the last one', () => {
  fc.assert(
    fc.property(fc.option(fc.integer({ min: 1 }), { nil: undefined }), fc.string({ minLength: 1 }), (revision, key) => {
      const page = { kind: 'page', revision, from: `${key}\u0000`, limit: 3 };
      assert.deepEqual(plan({ continue: makeToken(revision, key), limit: '3' }), page);
    }),
  );
});

test('an invalid continue token is rejected', () => {
  const tokenOf = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64url');
  for (const bad of [
    'garbage',
    tokenOf(5),
    tokenOf({ v: 'x', rv: 1, start: 'a' }),
    tokenOf({ v: 'meta.k8s.io/v1', rv: 0, start: 'a' }),
  ]) {
    assert.throws(() => plan({ continue: bad }), { code: 400 }, bad);
  }
});
