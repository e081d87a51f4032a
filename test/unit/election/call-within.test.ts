import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ApiError } from '../../../src/api/api-error.ts';
import { callWithin } from '../../../src/election/call-within.ts';
import { ManualClock } from '../../support/manual-clock.ts';

const never = new AbortController().signal;
const unanswered = (): Promise<never> => new Promise(() => {});

test('passes the answer on, and leaves no timer', async () => {
  const clock = new ManualClock();
  assert.equal(await callWithin({ clock, ms: 5_000, signal: never }, () => Promise.resolve(7)), 7);
  assert.equal(clock.sleeping, 0);
});

test('passes a failure on as it is, and leaves no timer', async () => {
  const clock = new ManualClock();
  const failure = new ApiError({ reason: 'conflict', message: 'no', code: 409 });
  await assert.rejects(
    callWithin({ clock, ms: 5_000, signal: never }, () => Promise.reject(failure)),
    (error) => error === failure,
  );
  assert.equal(clock.sleeping, 0);
});

test('gives up on time though the call does not listen, and tells it', async () => {
  const clock = new ManualClock();
  let told: AbortSignal | undefined;
  const answer = callWithin({ clock, ms: 5_000, signal: never }, (signal) => {
    told = signal;
    return unanswered();
  });
  const outcome = assert.rejects(answer, { name: 'ApiError', reason: 'timeout', code: 0 });
  await clock.advance(4_999);
  assert.equal(told?.aborted, false);
  await clock.advance(1);
  await outcome;
  assert.equal(told?.aborted, true);
});

test('is called off at once', async () => {
  const clock = new ManualClock();
  const off = new AbortController();
  const outcome = assert.rejects(callWithin({ clock, ms: 5_000, signal: off.signal }, unanswered), {
    reason: 'aborted',
  });
  off.abort();
  await outcome;
  assert.equal(clock.sleeping, 0);
});

test('does not even start when it was called off before', async () => {
  let started = false;
  const limit = { clock: new ManualClock(), ms: 5_000, signal: AbortSignal.abort() };
  const call = (): Promise<void> => {
    started = true;
    return Promise.resolve();
  };
  await assert.rejects(callWithin(limit, call), { reason: 'aborted' });
  assert.equal(started, false);
});
