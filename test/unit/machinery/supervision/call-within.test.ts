import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ApiError } from '../../../../src/machinery/api/api-error.ts';
import { callWhile, callWithin } from '../../../../src/machinery/supervision/call-within.ts';
import { ManualClock, settled } from '../../../support/manual-clock.ts';

const never = new AbortController().signal;
const unanswered = (): Promise<never> => new Promise(() => {});

test('returns the result, and leaves no timer', async () => {
  const clock = new ManualClock();
  assert.equal(await callWithin({ clock, ms: 5_000, signal: never }, () => Promise.resolve(7)), 7);
  assert.equal(clock.sleeping, 0);
});

test("rejects with the call's error, and leaves no timer", async () => {
  const clock = new ManualClock();
  const failure = new ApiError({ reason: 'conflict', message: 'no', code: 409 });
  await assert.rejects(
    callWithin({ clock, ms: 5_000, signal: never }, () => Promise.reject(failure)),
    (error) => error === failure,
  );
  assert.equal(clock.sleeping, 0);
});

test('times out although the call ignores its signal, and aborts the signal', async () => {
  const clock = new ManualClock();
  let callSignal: AbortSignal | undefined;
  const answer = callWithin({ clock, ms: 5_000, signal: never }, (signal) => {
    callSignal = signal;
    return unanswered();
  });
  const outcome = assert.rejects(answer, { name: 'ApiError', reason: 'timeout', code: 0 });
  await clock.advance(4_999);
  assert.equal(callSignal?.aborted, false);
  await clock.advance(1);
  await outcome;
  assert.equal(callSignal?.aborted, true);
});

test('rejects at once when the signal aborts', async () => {
  const clock = new ManualClock();
  const off = new AbortController();
  const outcome = assert.rejects(callWithin({ clock, ms: 5_000, signal: off.signal }, unanswered), {
    reason: 'aborted',
  });
  off.abort();
  await outcome;
  assert.equal(clock.sleeping, 0);
});

test('does not start the call if the signal has aborted before', async () => {
  let started = false;
  const limit = { clock: new ManualClock(), ms: 5_000, signal: AbortSignal.abort() };
  const call = (): Promise<void> => {
    started = true;
    return Promise.resolve();
  };
  await assert.rejects(callWithin(limit, call), { reason: 'aborted' });
  assert.equal(started, false);
});

test('rejects with the error of a call that throws synchronously, without a later unhandled rejection', async (context) => {
  const clock = new ManualClock();
  const unhandled: unknown[] = [];
  const note = (reason: unknown): void => void unhandled.push(reason);
  process.on('unhandledRejection', note);
  context.after(() => process.removeListener('unhandledRejection', note));
  const failure = new Error('broken port');
  const call = (): never => {
    throw failure;
  };
  await assert.rejects(callWithin({ clock, ms: 5_000, signal: never }, call), (error) => error === failure);
  await settled();
  assert.deepEqual([unhandled, clock.sleeping], [[], 0]);
});

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
