import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { PolicyLimits, UnhealthyCount } from '../../../../src/controller/model/policy.ts';
import { decideBreaker, endOfBreakerMs, limitOf } from '../../../../src/controller/policies/decide-breaker.ts';
import { decideInheritedBreaker } from '../../../../src/controller/policies/decide-inherited-breaker.ts';

const limits: PolicyLimits = {
  maxUnhealthy: { percent: undefined, count: 2 },
  cooldownMs: 60_000,
  resetAtMs: undefined,
};
const at = (ms: number): { monotonicMs: number; wallMs: number } => ({ monotonicMs: ms, wallMs: 1_000_000 + ms });
const unhealthy = (count: number, exempt = 0): UnhealthyCount => ({ nodes: 10, unhealthy: count, exempt });

test('the limit is the greater of percent, rounded down, and count', () => {
  const cases: readonly (readonly [number | undefined, number | undefined, number, number])[] = [
    [40, undefined, 8, 3],
    [40, 3, 8, 3],
    [40, 2, 8, 3],
    [40, 5, 8, 5],
    [undefined, 5, 8, 5],
    [1, undefined, 99, 0],
    [100, undefined, 7, 7],
    [50, 1, 0, 1],
  ];
  for (const [percent, count, nodes, limit] of cases)
    assert.equal(limitOf({ percent, count }, nodes), limit, `${percent} % ${count} of ${nodes}`);
});

test('it opens above the limit, and not at it', () => {
  assert.equal(decideBreaker(undefined, unhealthy(2), limits, at(0)), undefined);
  assert.deepEqual(decideBreaker(undefined, unhealthy(3), limits, at(5)), {
    openedAtMs: 1_000_005,
    recoveredAtMs: undefined,
  });
  assert.equal(decideBreaker(undefined, unhealthy(3, 1), limits, at(5)), undefined, 'an exempt node does not count');
});

test('it closes a cooldown after the number is back at the limit, and a higher number starts the cooldown again', () => {
  const opened = decideBreaker(undefined, unhealthy(3), limits, at(0));
  assert.ok(opened !== undefined);
  assert.equal(endOfBreakerMs(opened, limits), Infinity);
  assert.equal(decideBreaker(opened, unhealthy(4), limits, at(10)), opened, 'unchanged');
  const cooling = decideBreaker(opened, unhealthy(2), limits, at(100));
  assert.ok(cooling !== undefined);
  assert.equal(endOfBreakerMs(cooling, limits), 60_100);
  assert.equal(decideBreaker(cooling, unhealthy(0), limits, at(60_099)), cooling);
  assert.equal(decideBreaker(cooling, unhealthy(0), limits, at(60_100)), undefined);
  const again = decideBreaker(cooling, unhealthy(3), limits, at(50_000));
  assert.deepEqual(again, opened, 'the same opening');
});

test('a reset ends an opening until its time, by the wall clock, and only when that time has come', () => {
  const opened = { openedAtMs: 1_000_000, recoveredAtMs: undefined };
  const resetAt = (resetAtMs: number): PolicyLimits => ({ ...limits, resetAtMs });
  assert.equal(decideBreaker(opened, unhealthy(3, 3), resetAt(1_000_000), at(0)), undefined);
  assert.deepEqual(decideBreaker(opened, unhealthy(3, 3), resetAt(999_999), at(7)), {
    openedAtMs: 1_000_000,
    recoveredAtMs: 7,
  });
  assert.notEqual(decideBreaker(opened, unhealthy(3), resetAt(1_000_010), at(9)), undefined, 'in the future');
  assert.deepEqual(
    decideBreaker(opened, unhealthy(3), resetAt(1_000_005), at(9)),
    { openedAtMs: 1_000_009, recoveredAtMs: undefined },
    'too many that do not count are unhealthy: another opening',
  );
});

test('an opening of the moment of the reset is replaced once the clock has moved, not again and again', () => {
  const reset = { ...limits, resetAtMs: 1_000_005 };
  const opened = decideBreaker(undefined, unhealthy(3), reset, at(5));
  assert.equal(decideBreaker(opened, unhealthy(3), reset, at(5)), opened, 'the same object: nothing changed');
  const later = decideBreaker(opened, unhealthy(3), reset, at(6));
  assert.deepEqual(later, { openedAtMs: 1_000_006, recoveredAtMs: undefined });
  assert.equal(decideBreaker(later, unhealthy(3), reset, at(6)), later);
});

/** Ready for so long at time 0, and old. */
const readyFor = (...agesMs: readonly number[]): Parameters<typeof decideInheritedBreaker>[0] =>
  agesMs.map((ageMs) => ({ sinceMs: 1_000_000 - ageMs, createdAtMs: 0 }));

test('a new leader goes on with the cooldown since the count was back at the limit', () => {
  const inherited = decideInheritedBreaker(readyFor(50_000, 10_000, 30_000), unhealthy(1), limits, at(0));
  assert.deepEqual(inherited, { openedAtMs: 970_000, recoveredAtMs: -30_000 }, 'the second recovery from the last');
  assert.deepEqual(decideInheritedBreaker(readyFor(10_000), unhealthy(2), limits, at(0)), {
    openedAtMs: 990_000,
    recoveredAtMs: -10_000,
  });
});

test('a new leader finds no cooldown: too few recoveries, or before it, or of new nodes, or too many unhealthy now', () => {
  const decide = (nodes: Parameters<typeof decideInheritedBreaker>[0], count: UnhealthyCount): unknown =>
    decideInheritedBreaker(nodes, count, limits, at(0));
  assert.equal(decide(readyFor(10_000, 20_000), unhealthy(0)), undefined);
  assert.equal(decide(readyFor(60_000), unhealthy(2)), undefined);
  assert.equal(decide([{ sinceMs: 990_000, createdAtMs: 980_000 }], unhealthy(2)), undefined);
  assert.equal(decide(readyFor(10_000), unhealthy(3)), undefined, 'it opens anyway');
});

test('a new leader: a reset after the recovery ends the cooldown, and a time of a kubelet in the future is the present', () => {
  const resetAt = (resetAtMs: number): PolicyLimits => ({ ...limits, resetAtMs });
  const nodes = readyFor(10_000);
  assert.equal(decideInheritedBreaker(nodes, unhealthy(2), resetAt(995_000), at(0)), undefined);
  assert.notEqual(decideInheritedBreaker(nodes, unhealthy(2), resetAt(985_000), at(0)), undefined);
  assert.deepEqual(decideInheritedBreaker(readyFor(-5_000), unhealthy(2), limits, at(0)), {
    openedAtMs: 1_000_000,
    recoveredAtMs: 0,
  });
});
