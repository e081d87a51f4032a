import assert from 'node:assert/strict';
import { test } from 'node:test';
import { steadyTime, SteadyWall } from '../../../../src/dashboard/server/steady-time.ts';

const nowMs = Date.parse('2026-01-02T03:00:00Z');
const soon = '2026-01-02T03:00:10Z';
const late = '2026-01-02T04:00:00Z';

const rows: readonly (readonly [previous: string | null, atMs: number, expected: string])[] = [
  [null, nowMs + 10_900, soon],
  [soon, nowMs + 11_900, soon],
  [soon, nowMs + 8_100, soon],
  [soon, nowMs + 12_000, '2026-01-02T03:00:12Z'],
  [late, nowMs + 3_700_000, late],
  [late, nowMs + 3_800_000, '2026-01-02T04:03:20Z'],
  ['not a time', nowMs + 10_000, soon],
];

for (const [previous, atMs, expected] of rows) {
  test(`${previous} and then ${new Date(atMs).toISOString()}: ${expected}`, () => {
    assert.equal(steadyTime(previous, atMs, nowMs), expected);
  });
}

test('the difference of the clocks stays the same while they jitter, and follows a clock that was set', () => {
  let wallMs = 1_000_000;
  const wall = new SteadyWall({ nowMs: () => wallMs, monotonicMs: () => 500 });
  assert.deepEqual(wall.now(), { monotonicMs: 500, wallMs: 1_000_000 });
  wallMs += 200;
  assert.equal(wall.now().wallMs, 1_000_000);
  wallMs += 100;
  assert.equal(wall.now().wallMs, 1_000_300);
});
