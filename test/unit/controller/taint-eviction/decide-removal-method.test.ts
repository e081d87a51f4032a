import assert from 'node:assert/strict';
import { test } from 'node:test';
import { decideRemovalMethod } from '../../../../src/controller/taint-eviction/decide-removal-method.ts';

const due = { forHealth: true } as const;
const evidence = { timeoutMs: 500, askedMs: 0, hasRequested: true, isReachable: true, hasResponder: false };

for (const [title, evictAt, over, method] of [
  ['a reachable node', due, {}, 'evict'],
  ['the last moment before the timeout', due, { askedMs: 499 }, 'evict'],
  ['the timeout', due, { askedMs: 500 }, 'delete'],
  ['the timeout, and no question', due, { askedMs: 500, hasRequested: false }, 'evict'],
  ['an unreachable node', due, { isReachable: false }, 'delete'],
  ['a taint of another client', { forHealth: false }, {}, 'delete'],
  ['a responder', due, { hasResponder: true }, 'await-responder'],
  ['a responder that came after a question', due, { hasResponder: true, askedMs: 499 }, 'await-responder'],
  ['a responder at the timeout', due, { hasResponder: true, askedMs: 500, hasRequested: false }, 'evict'],
  ['a responder after the timeout', due, { hasResponder: true, askedMs: 500 }, 'delete'],
  ['a responder, and an unreachable node', due, { hasResponder: true, isReachable: false }, 'delete'],
  ['a responder, and a taint of another client', { forHealth: false }, { hasResponder: true }, 'delete'],
] as const) {
  test(`${title}: ${method}`, () => {
    assert.equal(decideRemovalMethod(evictAt, { ...evidence, ...over }), method);
  });
}
