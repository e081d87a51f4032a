import assert from 'node:assert/strict';
import { test } from 'node:test';
import { SteadyWall } from '../../../../src/controller/dashboard/steady-wall.ts';

test('the difference of the clocks stays the same while they jitter, and follows a clock that was set', () => {
  let wallMs = 1_000_000;
  const wall = new SteadyWall({ nowMs: () => wallMs, monotonicMs: () => 500 });
  assert.deepEqual(wall.now(), { monotonicMs: 500, wallMs: 1_000_000 });
  wallMs += 200;
  assert.equal(wall.now().wallMs, 1_000_000);
  wallMs += 100;
  assert.equal(wall.now().wallMs, 1_000_300);
});
