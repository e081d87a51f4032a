import assert from 'node:assert/strict';
import { test } from 'node:test';
import { decideRemovalMethod } from '../../../../src/controller/taint-eviction/decide-eviction.ts';

const due = { atMs: 1_000, forHealth: true } as const;
const evidence = { timeoutMs: 500, isReachable: true, nowMs: 1_000 };

for (const [title, evictAt, over, method] of [
  ['a reachable node', due, {}, 'evict'],
  ['the last moment before the timeout', due, { nowMs: 1_499 }, 'evict'],
  ['the timeout', due, { nowMs: 1_500 }, 'delete'],
  ['the timeout after a hold', due, { heldAtMs: 1_400, nowMs: 1_899 }, 'evict'],
  ['the end of the timeout after a hold', due, { heldAtMs: 1_400, nowMs: 1_900 }, 'delete'],
  ['an unreachable node', due, { isReachable: false }, 'delete'],
  ['a policy that does not use the Eviction API', due, { timeoutMs: undefined }, 'delete'],
  ['a taint of another client', { ...due, forHealth: false }, {}, 'delete'],
] as const) {
  test(`${title}: ${method}`, () => {
    assert.equal(decideRemovalMethod(evictAt, { ...evidence, ...over }), method);
  });
}
