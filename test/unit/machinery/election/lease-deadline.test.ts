import assert from 'node:assert/strict';
import { test } from 'node:test';
import { LeaseDeadline } from '../../../../src/machinery/election/lease-deadline.ts';
import { instantOf } from '../../../../src/machinery/ports/clock.ts';
import { ManualClock } from '../../../support/manual-clock.ts';

const ms = 10_000;

function renewed(): { clock: ManualClock; deadline: LeaseDeadline } {
  const clock = new ManualClock();
  const deadline = new LeaseDeadline(clock, ms);
  deadline.renewed(instantOf(clock));
  return { clock, deadline };
}

test('does not hold without a renewal or after revoke', () => {
  const { clock, deadline } = renewed();
  assert.equal(new LeaseDeadline(clock, ms).holds(), false);
  deadline.revoke();
  assert.deepEqual([deadline.holds(), deadline.isAhead(), deadline.untilMs], [false, false, -Infinity]);
});

test('with both clocks running it holds until the duration since the renewal was sent has passed', () => {
  const { clock, deadline } = renewed();
  clock.stall(ms - 1);
  assert.deepEqual([deadline.holds(), deadline.isAhead()], [true, true]);
  clock.stall(1);
  assert.deepEqual([deadline.holds(), deadline.isAhead()], [false, false]);
});

test('time that the wall clock gains counts as elapsed, to the millisecond', () => {
  const { clock, deadline } = renewed();
  clock.stall(4_000);
  clock.jumpWall(5_999);
  assert.equal(deadline.holds(), true);
  clock.jumpWall(1);
  assert.deepEqual([deadline.holds(), deadline.isAhead()], [false, true]);
  deadline.renewed(instantOf(clock));
  assert.equal(deadline.holds(), true);
});

test('a backward step of the wall clock has no effect', () => {
  const { clock, deadline } = renewed();
  clock.jumpWall(-60_000);
  assert.equal(deadline.holds(), true);
  clock.stall(ms - 1);
  assert.equal(deadline.holds(), true);
  clock.stall(1);
  assert.equal(deadline.holds(), false);
});

test('an earlier backward step does not hide a later forward step', () => {
  const { clock, deadline } = renewed();
  clock.jumpWall(-60_000);
  assert.equal(deadline.holds(), true);
  clock.jumpWall(ms);
  assert.equal(deadline.holds(), false);
});
