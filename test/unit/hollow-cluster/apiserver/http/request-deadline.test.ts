import assert from 'node:assert/strict';
import { test } from 'node:test';
import { RequestDeadline } from '../../../../../src/hollow-cluster/apiserver/http/request-deadline.ts';
import { ManualClock } from '../../../../support/manual-clock.ts';

function startDeadline(timeoutMs: number) {
  const clock = new ManualClock();
  const ended = new AbortController();
  const deadline = new RequestDeadline(clock, ended);
  deadline.start(timeoutMs);
  return { clock, ended, deadline };
}

test('a deadline ends the work of its request', async () => {
  const { clock, ended } = startDeadline(1_000);
  await clock.advance(999);
  assert.ok(!ended.signal.aborted);
  await clock.advance(1);
  assert.ok(ended.signal.aborted);
});

test('the answer to a write that was carried out has a minute more, and no longer', async () => {
  const { clock, ended, deadline } = startDeadline(1_000);
  deadline.markCarriedOut();
  await clock.advance(1_000);
  await clock.advance(59_999);
  assert.ok(!ended.signal.aborted);
  await clock.advance(1);
  assert.ok(ended.signal.aborted);
});

test('a deadline stops when the response is closed', async () => {
  for (const carriedOut of [false, true]) {
    const { clock, ended, deadline } = startDeadline(1_000);
    if (carriedOut) {
      deadline.markCarriedOut();
      await clock.advance(1_000);
    }
    ended.abort();
    await clock.advance(0);
    assert.equal(clock.sleeping, 0);
  }
});
