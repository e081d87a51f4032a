import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { type ListQuery, makeToken, parseListPlan } from '../../../../src/apiserver/registry/list-query.ts';

const plain: ListQuery = {
  resourceVersion: '',
  resourceVersionMatch: '',
  continue: '',
  limit: 0,
  sendInitialEvents: undefined,
};
const plan = (query: Partial<ListQuery>): unknown => parseListPlan({ ...plain, ...query });

test('which state each combination of options means', () => {
  assert.deepEqual(plan({ limit: 5 }), { kind: 'now', atLeast: 0, limit: 5 });
  assert.deepEqual(plan({ resourceVersion: '0', limit: 5 }), { kind: 'now', atLeast: 0, limit: 0 });
  assert.deepEqual(plan({ resourceVersion: '7' }), { kind: 'now', atLeast: 7, limit: 0 });
  assert.deepEqual(plan({ resourceVersion: '7', limit: 5 }), { kind: 'exact', revision: 7, atLeast: 7, limit: 5 });
  assert.deepEqual(plan({ resourceVersion: '7', resourceVersionMatch: 'NotOlderThan', limit: 5 }), {
    kind: 'now',
    atLeast: 7,
    limit: 5,
  });
});

test('versions are decimal numbers', () => {
  for (const resourceVersion of ['abc', '-1', '01', '1.5', '1e3']) {
    assert.throws(() => plan({ resourceVersion }), { code: 400 }, resourceVersion);
  }
});

test('a token leads to the place after its key, at its revision', () => {
  fc.assert(
    fc.property(fc.option(fc.integer({ min: 1 }), { nil: undefined }), fc.string({ minLength: 1 }), (revision, key) => {
      assert.deepEqual(plan({ continue: makeToken(revision, key), limit: 3 }), {
        kind: 'page',
        revision,
        from: `${key}\u0000`,
        limit: 3,
      });
    }),
  );
});

test('anything else is no token', () => {
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
