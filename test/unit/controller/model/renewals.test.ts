import assert from 'node:assert/strict';
import { test } from 'node:test';
import { addInterval, renewalWindowMs, renewsWithinMs } from '../../../../src/controller/model/renewals.ts';

const at = (second: number): string => `2026-11-27T12:00:${String(second).padStart(2, '0')}.000000Z`;

test('the window covers a renew interval where the grace period allows it, and a quarter of the grace period otherwise', () => {
  assert.equal(renewalWindowMs(50_000), 12_000);
  assert.equal(renewalWindowMs(40_000), 12_000);
  assert.equal(renewalWindowMs(24_000), 12_000);
  assert.equal(renewalWindowMs(20_000), 8_000);
  assert.equal(renewalWindowMs(16_000), 4_000);
  assert.equal(renewalWindowMs(8_000), 2_000);
});

test('the last three intervals count; a clock that was set back, a missing and a malformed time show none', () => {
  let intervals: readonly number[] = [];
  for (const second of [10, 20, 30, 40]) intervals = addInterval(intervals, at(second - 9), at(second));
  assert.deepEqual(intervals, [9_000, 9_000, 9_000]);
  assert.deepEqual(addInterval([1, 2, 3], at(0), at(20)), [2, 3, 20_000]);
  for (const [from, to] of [
    [at(20), at(10)],
    [at(5), at(5)],
    [undefined, at(5)],
    [at(5), 'soon'],
  ])
    assert.deepEqual(addInterval([7], from, to), [7]);
});

test('a node renews within a fifth more than its interval, and never later than its grace period', () => {
  const within = (graceMs: number, ...intervalsMs: readonly number[]): number =>
    renewsWithinMs({ intervalsMs, graceMs });
  assert.equal(within(40_000), 12_000, 'unknown');
  assert.equal(within(40_000, 10_000, 10_000, 10_000), 12_000);
  assert.equal(within(180_000, 60_000, 60_000, 60_000), 72_000);
  assert.equal(within(12_000, 10_000, 10_000, 10_000), 12_000);
  assert.equal(within(12_000, 3_000, 3_000, 3_000), 3_600);
  assert.equal(within(40_000, 1_000, 1_000, 1_000), 12_000, 'as for the default interval at least');
  assert.equal(within(40_000, 60_000, 60_000, 60_000), 40_000);
});

test('one gap and one burst change nothing', () => {
  for (const other of [300_000, 1])
    for (const place of [0, 1, 2]) {
      const intervalsMs = [10_000, 10_000, 10_000].with(place, other);
      assert.equal(renewsWithinMs({ intervalsMs, graceMs: 180_000 }), 12_000);
    }
});
