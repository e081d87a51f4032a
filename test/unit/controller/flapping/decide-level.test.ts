import assert from 'node:assert/strict';
import { test } from 'node:test';
import { budgetOf, decideLevel, keptForMs } from '../../../../src/controller/flapping/decide-level.ts';
import type { FlappingRule } from '../../../../src/controller/model/policy.ts';

const minute = 60_000;
const rule: FlappingRule = {
  recoveries: 3,
  withinMs: 60 * minute,
  initialMs: 5 * minute,
  maxMs: 30 * minute,
  budget: { percent: undefined, count: 1 },
};

function levelAt(minutes: number, before: Partial<Parameters<typeof decideLevel>[0]>): number {
  return decideLevel({ atMs: [], level: 0, isTainted: false, ...before }, rule, minutes * minute);
}

test('a node flaps with the last recovery that the rule asks for, within the window', () => {
  assert.equal(levelAt(10, { atMs: [0] }), 0);
  assert.equal(levelAt(60, { atMs: [0, 30 * minute] }), 1);
  assert.equal(levelAt(61, { atMs: [0, 30 * minute] }), 0, 'the first one is out of the window');
});

test('each further recovery raises the level, until it did not recover for the window', () => {
  assert.equal(levelAt(70, { atMs: [10 * minute], level: 1 }), 2);
  assert.equal(levelAt(71, { atMs: [10 * minute], level: 4 }), 0);
  assert.equal(
    levelAt(500, { atMs: [10 * minute], level: 4, isTainted: true }),
    5,
    'it is kept for longer than the window',
  );
  assert.equal(levelAt(1, { atMs: [0], level: 64 }), 64, 'the highest one');
});

test('the time doubles up to the maximum', () => {
  assert.deepEqual(
    [1, 2, 3, 4, 5, 64].map((level) => keptForMs(level, rule) / minute),
    [5, 10, 20, 30, 30, 30],
  );
});

test('the budget is the greater of percent and count; a share is rounded down', () => {
  const of = (percent: number | undefined, count: number | undefined): number =>
    budgetOf({ ...rule, budget: { percent, count } }, 29);
  assert.deepEqual([of(10, 1), of(10, 5), of(undefined, 3), of(1, undefined)], [2, 5, 3, 0]);
});
