import assert from 'node:assert/strict';
import { describe, mock, test } from 'node:test';
import { RequestRateLimit, waitingMax } from '../../../../src/machinery/supervision/request-rate-limit.ts';
import { SystemClock } from '../../../../src/machinery/adapters/system-clock.ts';
import { ManualClock, settled } from '../../../support/manual-clock.ts';

const { signal } = new AbortController();

function aLimit(qps: number, burst: number): { readonly clock: ManualClock; readonly limit: RequestRateLimit } {
  const clock = new ManualClock();
  return { clock, limit: new RequestRateLimit({ qps, burst, clock }) };
}

/** Sends `count` requests at once; returns the times at which they pass, in milliseconds from now. */
function passAll(limit: RequestRateLimit, clock: ManualClock, count: number): number[] {
  const startMs = clock.monotonicMs();
  const grantedAtMs: number[] = [];
  for (let made = 0; made < count; made += 1) {
    void limit.pass(signal).then(() => grantedAtMs.push(clock.monotonicMs() - startMs));
  }
  return grantedAtMs;
}

describe('the client-side rate limit', () => {
  for (const { qps, burst, count } of [
    { qps: 0.5, burst: 1, count: 5 },
    { qps: 5, burst: 10, count: 100 },
    { qps: 20, burst: 30, count: 500 },
    { qps: 1_000, burst: 10, count: 3_000 },
    { qps: 1_000, burst: 1, count: 1_000 },
    { qps: 7, burst: 3, count: 100 },
  ])
    test(`is exact at ${qps} requests a second and burst ${burst}`, async () => {
      const clock = new ManualClock();
      const grantedAtMs = passAll(new RequestRateLimit({ qps, burst, clock }), clock, count);
      await clock.advance(((count - burst) * 1_000) / qps + 1);
      assert.equal(grantedAtMs.length, count);
      grantedAtMs.forEach((atMs, index) => {
        const exactMs = Math.max(0, index + 1 - burst) * (1_000 / qps);
        assert.ok(Math.abs(atMs - exactMs) < 0.01, `request ${index} went after ${atMs} ms instead of ${exactMs} ms`);
      });
      assert.equal(clock.sleeping, 0);
    });

  test('uses one timer, however many requests wait', async () => {
    const { clock, limit } = aLimit(1, 1);
    const grantedAtMs = passAll(limit, clock, 100);
    await settled();
    assert.equal(grantedAtMs.length, 1);
    assert.equal(clock.sleeping, 1);
  });

  test('a timer that is late by less than 100 ms costs nothing, a longer stall leaves only the burst', async () => {
    const { clock, limit } = aLimit(1_000, 1);
    const grantedAtMs = passAll(limit, clock, 10_000);
    await clock.advance(0);
    clock.stall(50);
    await clock.advance(0);
    assert.equal(grantedAtMs.length, 51);
    clock.stall(60_000);
    await clock.advance(0);
    assert.equal(grantedAtMs.length, 51 + 101);
  });

  test('an aborted request takes no token and leaves the queue', async () => {
    const { clock, limit } = aLimit(1, 1);
    await limit.pass(signal);
    const giveUp = new AbortController();
    const abandoned = Array.from({ length: 50 }, () => limit.pass(giveUp.signal));
    const grantedAtMs = passAll(limit, clock, 2);
    giveUp.abort();
    for (const pass of abandoned) await assert.rejects(pass, { reason: 'aborted' });
    await clock.advance(2_000);
    assert.deepEqual(grantedAtMs, [1_000, 2_000]);
  });

  test('no timer is left when the last request is aborted, and the next one still waits for its token', async () => {
    const { clock, limit } = aLimit(1, 1);
    await limit.pass(signal);
    const giveUp = new AbortController();
    const abandoned = assert.rejects(limit.pass(giveUp.signal), { reason: 'aborted' });
    giveUp.abort();
    const grantedAtMs = passAll(limit, clock, 1); // before the timer's promise has settled
    await abandoned;
    await clock.advance(999);
    assert.deepEqual(grantedAtMs, []);
    await clock.advance(1);
    assert.deepEqual(grantedAtMs, [1_000]);
    assert.equal(clock.sleeping, 0);
  });

  test('rejects requests above the maximum with too-many-requests, and waiting requests with aborted when it is closed', async () => {
    const { clock, limit } = aLimit(0.001, 1);
    await limit.pass(signal);
    const waiting = Array.from({ length: waitingMax }, () => limit.pass(signal).catch((error: unknown) => error));
    await assert.rejects(limit.pass(signal), { reason: 'too-many-requests' });
    limit.close();
    for (const outcome of await Promise.all(waiting)) {
      assert.ok(outcome instanceof Error && 'reason' in outcome && outcome.reason === 'aborted');
    }
    await settled();
    assert.equal(clock.sleeping, 0);
  });

  test('does not limit with 0 requests a second', async () => {
    const { clock, limit } = aLimit(0, 0);
    const grantedAtMs = passAll(limit, clock, 1_000);
    await settled();
    assert.equal(grantedAtMs.length, 1_000);
  });

  test('ignores a step of the wall clock, back or forward', async () => {
    const limit = new RequestRateLimit({ qps: 50, burst: 1, clock: new SystemClock() });
    const now = Date.now.bind(Date);
    const sinceMs = performance.now();
    try {
      for (const stepMs of [0, -60_000, 60_000]) {
        mock.method(Date, 'now', () => now() + stepMs);
        for (let passed = 0; passed < 5; passed += 1) await limit.pass(AbortSignal.timeout(5_000));
      }
    } finally {
      mock.restoreAll();
    }
    const tookMs = performance.now() - sinceMs;
    assert.ok(tookMs >= 270 && tookMs < 3_000, `15 requests at 50 a second took ${tookMs} ms`);
  });

  test('recovery and detection do not wait behind housekeeping', async () => {
    const { clock, limit } = aLimit(5, 1);
    for (let made = 0; made < 100; made += 1) void limit.pass(signal, 'housekeeping');
    await clock.advance(2_000);
    const sinceMs = clock.monotonicMs();
    const grantedAtMs = new Map<string, number>();
    for (const flow of ['recovery', 'detection'] as const) {
      void limit.pass(signal, flow).then(() => grantedAtMs.set(flow, clock.monotonicMs() - sinceMs));
    }
    await clock.advance(1_000);
    assert.deepEqual([...grantedAtMs.keys()].sort(), ['detection', 'recovery']);
    assert.ok(Math.max(...grantedAtMs.values()) <= 601);
  });

  test('NoExecute taints, which the eviction rate has paced, do not collect behind deletions of pods', async () => {
    const { clock, limit } = aLimit(5, 1);
    for (let made = 0; made < 100; made += 1) void limit.pass(signal, 'eviction');
    const waitedMs: number[] = [];
    for (let taints = 0; taints < 2; taints += 1) {
      const sinceMs = clock.monotonicMs();
      void limit.pass(signal, 'tainting').then(() => waitedMs.push(clock.monotonicMs() - sinceMs));
      await clock.advance(2_000);
    }
    assert.equal(waitedMs.length, 2);
    assert.ok(Math.max(...waitedMs) <= 401, String(waitedMs));
  });
});
