import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ApiContact, lostAfterMs } from '../../../../src/machinery/supervision/api-contact.ts';
import { ManualClock } from '../../../support/manual-clock.ts';

const never = new AbortController().signal;

test('the first answer after an outage ends all sleeps, and an answer soon after another one none', async () => {
  const clock = new ManualClock();
  const contact = new ApiContact(clock);
  const ended: boolean[] = [];
  const sleep = (): void => void contact.sleep(60_000, never).then((restored) => ended.push(restored));
  sleep();
  sleep();
  contact.answered();
  await clock.advance(0);
  assert.deepEqual(ended, [true, true]);
  sleep();
  await clock.advance(lostAfterMs - 1);
  contact.answered();
  await clock.advance(lostAfterMs);
  assert.equal(ended.length, 2);
  contact.answered();
  await clock.advance(0);
  assert.deepEqual(ended, [true, true, true]);
  assert.equal(clock.sleeping, 0);
});

test('a sleep that lasts, or that its signal ends, was not ended by an answer', async () => {
  const clock = new ManualClock();
  const contact = new ApiContact(clock);
  const stop = new AbortController();
  const sleeps = [contact.sleep(1_000, never), contact.sleep(60_000, stop.signal)];
  await clock.advance(1_000);
  stop.abort();
  contact.answered();
  assert.deepEqual(await Promise.all(sleeps), [false, false]);
});
