import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ApiError } from '../../../../../src/machinery/api/api-error.ts';
import { refusedTriesMax, retryRefused } from '../../../../../src/hollow-cluster/kubelet/loops/retry-refused.ts';
import { ManualClock } from '../../../../support/manual-clock.ts';

const { signal } = new AbortController();
const busy = (retryAfterMs?: number): ApiError =>
  new ApiError({ reason: 'too-many-requests', code: 429, message: 'later', retryAfterMs });

test('a write that is rejected with Retry-After is retried after that delay', async () => {
  const clock = new ManualClock();
  let calls = 0;
  const write = (): Promise<string> => {
    calls += 1;
    return calls === 1 ? Promise.reject(busy(3_000)) : Promise.resolve('written');
  };
  const writing = retryRefused(write, clock, signal);
  await clock.advance(2_999);
  assert.equal(calls, 1);
  await clock.advance(1);
  assert.equal(await writing, 'written');
});

test('any other rejection is final, and there are at most ten tries', async () => {
  const clock = new ManualClock();
  let calls = 0;
  const failing = (error: ApiError) => (): Promise<never> => {
    calls += 1;
    return Promise.reject(error);
  };
  await assert.rejects(retryRefused(failing(busy()), clock, signal), { reason: 'too-many-requests' });
  assert.equal(calls, 1);
  const given = assert.rejects(retryRefused(failing(busy(0)), clock, signal), { reason: 'too-many-requests' });
  await clock.advance(10_000);
  await given;
  assert.equal(calls, 1 + refusedTriesMax);
});

test('the wait ends when the signal aborts', async () => {
  const end = new AbortController();
  const clock = new ManualClock();
  const ended = assert.rejects(
    retryRefused(() => Promise.reject(busy(60_000)), clock, end.signal),
    { code: 429 },
  );
  await clock.advance(1);
  end.abort();
  await ended;
  assert.equal(clock.sleeping, 0);
});
