import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import {
  retryAfterMsMax,
  RetryDelay,
  retryResetMs,
  retryMsMax,
  retryMsMin,
} from '../../../src/informer/retry-delay.ts';
import { ManualClock } from '../../support/manual-clock.ts';

describe('the delay between attempts', () => {
  test('doubles from 800 ms to 30 s, with up to 100 % jitter', () => {
    const shortest = new RetryDelay(new ManualClock(), { next: () => 0 });
    const delays = Array.from({ length: 8 }, () => shortest.nextMs());
    assert.deepEqual(delays, [800, 1_600, 3_200, 6_400, 12_800, 25_600, 30_000, 30_000]);
    const longest = new RetryDelay(new ManualClock(), { next: () => 0.999 });
    assert.ok(longest.nextMs() > 1.99 * retryMsMin);
  });

  test('is the requested one if that is longer, up to a minute', () => {
    const delay = new RetryDelay(new ManualClock(), { next: () => 0 });
    const asked = [5_000, 100, 36_000_000, Number.POSITIVE_INFINITY, Number.NaN, -1];
    const delays = asked.map((askedMs) => delay.nextMs(askedMs));
    assert.deepEqual(delays, [5_000, 1_600, retryAfterMsMax, retryAfterMsMax, 12_800, 25_600]);
  });

  test('starts over after two minutes without an attempt', async () => {
    const clock = new ManualClock();
    const delay = new RetryDelay(clock, { next: () => 0 });
    for (let asked = 0; asked < 7; asked += 1) delay.nextMs();
    await clock.advance(retryResetMs);
    assert.equal(delay.nextMs(), retryMsMax);
    await clock.advance(retryResetMs + 1);
    assert.equal(delay.nextMs(), retryMsMin);
  });
});
