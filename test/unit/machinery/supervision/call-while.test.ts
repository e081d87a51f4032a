import assert from 'node:assert/strict';
import { test } from 'node:test';
import { callWhile } from '../../../../src/machinery/supervision/call-while.ts';
import { ManualClock } from '../../../support/manual-clock.ts';

/** A call that ends with its signal, or after 10 s. */
async function hang(clock: ManualClock, signal: AbortSignal): Promise<string> {
  await clock.sleep(10_000, signal);
  return signal.aborted ? `aborted at ${clock.monotonicMs()}` : 'answered';
}

test('a call that is wanted ends by itself, and no timer is left', async () => {
  const clock = new ManualClock();
  const calling = callWhile({ clock, everyMs: 1_000, isWanted: () => true }, (signal) => hang(clock, signal));
  await clock.advance(10_000);
  assert.equal(await calling, 'answered');
  assert.equal(clock.sleeping, 0);
});

test('a call that is not wanted any more is aborted with the next check, and no timer is left', async () => {
  const clock = new ManualClock();
  const fromMs = clock.monotonicMs();
  let isWanted = true;
  const calling = callWhile({ clock, everyMs: 1_000, isWanted: () => isWanted }, (signal) => hang(clock, signal));
  await clock.advance(3_500);
  isWanted = false;
  await clock.advance(500);
  assert.equal(await calling, `aborted at ${fromMs + 4_000}`);
  assert.equal(clock.sleeping, 0);
});

test('a call that rejects leaves no timer', async () => {
  const clock = new ManualClock();
  const failing = callWhile({ clock, everyMs: 1_000, isWanted: () => true }, () =>
    Promise.reject(new Error('refused')),
  );
  await assert.rejects(failing, /refused/u);
  await clock.advance(1);
  assert.equal(clock.sleeping, 0);
});
