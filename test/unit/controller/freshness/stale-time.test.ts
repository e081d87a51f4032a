import assert from 'node:assert/strict';
import { test } from 'node:test';
import { StaleTime } from '../../../../src/controller/freshness/stale-time.ts';

const holdMs = 60_000;

/** Notes once a second: `s` stale, `f` fresh. Returns the second at which the hold was exceeded first. */
function exceededAt(states: string, stale = new StaleTime()): number | undefined {
  let found: number | undefined;
  states.split('').forEach((state, second) => {
    stale.note(state === 's', holdMs, second * 1_000);
    if (stale.exceedsHold) found ??= second;
  });
  return found;
}

test('uninterrupted stale time exceeds the hold when it is as long', () => {
  assert.equal(exceededAt('s'.repeat(100)), 60);
});

test('watches that are stale longer than they are fresh exceed the hold', () => {
  assert.equal(exceededAt(`${'s'.repeat(12)}${'f'.repeat(3)}`.repeat(10)), 96);
});

test('watches that are fresh longer than they are stale never exceed the hold', () => {
  assert.equal(exceededAt(`${'s'.repeat(12)}${'f'.repeat(13)}`.repeat(100)), undefined);
});

test('the hold is exceeded until the watches were fresh for as long', () => {
  const stale = new StaleTime();
  exceededAt(`${'s'.repeat(500)}${'f'.repeat(60)}`, stale);
  assert.equal(stale.exceedsHold, true);
  assert.equal(stale.sinceMs, 0);
  stale.note(false, holdMs, 560_000);
  assert.equal(stale.exceedsHold, false);
  assert.equal(stale.sinceMs, undefined);
});

test('a hold of 0 is exceeded at the first stale moment only, and one without end never', () => {
  const stale = new StaleTime();
  stale.note(false, 0, 0);
  assert.equal(stale.exceedsHold, false);
  stale.note(true, 0, 1);
  assert.equal(stale.exceedsHold, true);
  stale.note(false, 0, 2);
  assert.equal(stale.exceedsHold, false);
  for (const atMs of [3, 1e9]) stale.note(true, Infinity, atMs);
  assert.equal(stale.exceedsHold, false);
});

test('a process that was stopped while the watches were fresh counts none of the time', () => {
  const stale = new StaleTime();
  stale.note(false, holdMs, 0);
  stale.note(true, holdMs, 600_000);
  assert.equal(stale.exceedsHold, false);
});
