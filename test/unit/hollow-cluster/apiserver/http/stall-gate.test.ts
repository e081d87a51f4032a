import assert from 'node:assert/strict';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { test } from 'node:test';
import { StallGate } from '../../../../../src/hollow-cluster/apiserver/http/stall-gate.ts';
import { ManualClock } from '../../../../support/manual-clock.ts';

const never = new AbortController().signal;

/** Passes in this order; each name is added when it has passed. */
function passing(gate: StallGate, names: readonly string[], signal = never): string[] {
  const passed: string[] = [];
  for (const name of names) void gate.pass(signal).then(() => passed.push(name));
  return passed;
}

test('without a stall everything passes at once', async () => {
  const passed = passing(new StallGate(new ManualClock()), ['a']);
  await nextTurn();
  assert.deepEqual(passed, ['a']);
});

test('a stall ends by itself after its time, and what waited passes in order', async () => {
  const clock = new ManualClock();
  const gate = new StallGate(clock);
  gate.start(20_000);
  const passed = passing(gate, ['a', 'b', 'c']);
  await clock.advance(19_999);
  assert.deepEqual([passed, gate.isStalled], [[], true]);
  await clock.advance(1);
  assert.deepEqual([passed, gate.isStalled], [['a', 'b', 'c'], false]);
});

test('a second stall replaces the time of the first, and the end ends both', async () => {
  const clock = new ManualClock();
  const gate = new StallGate(clock);
  gate.start(5_000);
  gate.start(30_000);
  const passed = passing(gate, ['a']);
  await clock.advance(29_999);
  assert.deepEqual(passed, []);
  gate.end();
  await nextTurn();
  assert.deepEqual([passed, gate.isStalled], [['a'], false]);
});

test('a client that gives up does not wait', async () => {
  const gate = new StallGate(new ManualClock());
  gate.start(1_000);
  const gone = new AbortController();
  const passed = passing(gate, ['a'], gone.signal);
  gone.abort();
  await nextTurn();
  assert.deepEqual([passed, gate.isStalled], [['a'], true]);
});

test('a stall lasts for more than nothing and at most two minutes', () => {
  const gate = new StallGate(new ManualClock());
  for (const ms of [0, -1, 120_001, Number.NaN, Number.POSITIVE_INFINITY])
    assert.throws(() => gate.start(ms), RangeError);
  assert.equal(gate.isStalled, false);
});
