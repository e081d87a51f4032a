import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import {
  restoredJitterMs,
  retryAfterMsMax,
  RetryDelay,
  retryResetMs,
  retryMsMax,
  retryMsMin,
  unsyncedRetryMsMax,
} from '../../../../src/machinery/informer/retry-delay.ts';
import { ApiContact } from '../../../../src/machinery/supervision/api-contact.ts';
import { ManualClock } from '../../../support/manual-clock.ts';

const never = new AbortController().signal;

function makeDelay(random: number, clock = new ManualClock(), contact = new ApiContact(clock)): RetryDelay {
  return new RetryDelay(clock, { next: () => random }, contact);
}

describe('the delay between attempts', () => {
  test('doubles from 800 ms to 30 s, with up to 100 % jitter', () => {
    const shortest = makeDelay(0);
    const delays = Array.from({ length: 8 }, () => shortest.nextMs());
    assert.deepEqual(delays, [800, 1_600, 3_200, 6_400, 12_800, 25_600, 30_000, 30_000]);
    const longest = makeDelay(0.999);
    assert.ok(longest.nextMs() > 1.99 * retryMsMin);
  });

  test('is the requested one if that is longer, up to a minute', () => {
    const delay = makeDelay(0);
    const asked = [5_000, 100, 36_000_000, Number.POSITIVE_INFINITY, Number.NaN, -1];
    const delays = asked.map((askedMs) => delay.nextMs(askedMs));
    assert.deepEqual(delays, [5_000, 1_600, retryAfterMsMax, retryAfterMsMax, 12_800, 25_600]);
  });

  test('grows to the given maximum, and to the general one afterwards', () => {
    const delay = makeDelay(0);
    const delays = Array.from({ length: 6 }, () => delay.nextMs(0, unsyncedRetryMsMax));
    assert.deepEqual(delays, [800, 1_600, 2_500, 2_500, 2_500, 2_500]);
    assert.equal(delay.nextMs(), 30_000);
  });

  /** Milliseconds until the delay of 30 s ends, if a request of the process succeeds after this time. */
  async function waitedMs(answeredAfterMs: number, retryAfterMs?: number): Promise<number> {
    const clock = new ManualClock();
    const contact = new ApiContact(clock);
    const delay = makeDelay(0.5, clock, contact);
    const startedAtMs = clock.monotonicMs();
    const waiting = delay.wait(30_000, retryAfterMs, never).then(() => clock.monotonicMs() - startedAtMs);
    await clock.advance(answeredAfterMs);
    contact.answered();
    await clock.advance(30_000);
    return waiting;
  }

  test('ends soon after the API server answers again, and the next one is short', async () => {
    assert.equal(await waitedMs(7_000), 7_000 + restoredJitterMs / 2);
    const clock = new ManualClock();
    const contact = new ApiContact(clock);
    const delay = makeDelay(0, clock, contact);
    for (let attempts = 0; attempts < 7; attempts += 1) delay.nextMs();
    const waiting = delay.wait(30_000, undefined, never);
    contact.answered();
    await clock.advance(1);
    await waiting;
    assert.equal(delay.nextMs(), retryMsMin);
  });

  test('is short for an attempt that was under way when the API server answered again, and not for later ones', async () => {
    const clock = new ManualClock();
    const contact = new ApiContact(clock);
    const delay = makeDelay(0, clock, contact);
    for (let attempts = 0; attempts < 7; attempts += 1) delay.nextMs();
    const attemptAtMs = clock.monotonicMs();
    await clock.advance(5_000);
    contact.answered();
    assert.equal(delay.nextMs(0, retryMsMax, attemptAtMs), retryMsMin);
    assert.equal(delay.nextMs(0, retryMsMax, clock.monotonicMs()), 2 * retryMsMin);
  });

  test('does not end before the time that the server has requested', async () => {
    assert.equal(await waitedMs(7_000, 20_000), 20_000);
  });

  test('lasts while other requests succeed all the time: nothing has been restored', async () => {
    const clock = new ManualClock();
    const contact = new ApiContact(clock);
    contact.answered();
    let ended = false;
    void makeDelay(0, clock, contact)
      .wait(30_000, undefined, never)
      .then(() => (ended = true));
    for (let seconds = 0; seconds < 29; seconds += 1) {
      await clock.advance(1_000);
      contact.answered();
    }
    assert.equal(ended, false);
    await clock.advance(1_000);
    assert.equal(ended, true);
  });

  test('starts over after two minutes without an attempt', async () => {
    const clock = new ManualClock();
    const delay = makeDelay(0, clock);
    for (let asked = 0; asked < 7; asked += 1) delay.nextMs();
    await clock.advance(retryResetMs);
    assert.equal(delay.nextMs(), retryMsMax);
    await clock.advance(retryResetMs + 1);
    assert.equal(delay.nextMs(), retryMsMin);
  });
});
