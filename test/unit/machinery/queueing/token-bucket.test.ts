import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { TokenBucket } from '../../../../src/machinery/queueing/token-bucket.ts';

test('a rate of 0.1/s and a burst of 1 allow actions at exactly 0, 10, 20 s, regardless of the polling rate', () => {
  const bucket = new TokenBucket(0.1, 1, 0);
  const granted: number[] = [];
  for (let nowMs = 0; nowMs <= 30_000; nowMs += 100) if (bucket.tryTake(nowMs)) granted.push(nowMs);
  assert.deepEqual(granted, [0, 10_000, 20_000, 30_000]);
});

test('a rate of 0 allows nothing, and a change from 0 starts empty', () => {
  const bucket = new TokenBucket(0, 1, 0);
  assert.equal(bucket.tryTake(1e9), false);
  assert.equal(bucket.nextAtMs(1e9), Infinity);
  bucket.swapRate(1, 1e9);
  assert.equal(bucket.tryTake(1e9), false);
  assert.equal(bucket.tryTake(1e9 + 999), false);
  assert.equal(bucket.tryTake(1e9 + 1_000), true);
});

test('a change of rate keeps a full bucket full and an empty one empty; the same rate is no change', () => {
  const full = new TokenBucket(0.1, 1, 0);
  full.swapRate(0.01, 0);
  assert.equal(full.tryTake(0), true);
  const spent = new TokenBucket(0.1, 1, 0);
  spent.tryTake(0);
  spent.swapRate(0.1, 9_000);
  assert.equal(spent.tryTake(10_000), true);
  spent.swapRate(0.5, 15_000);
  assert.equal(spent.tryTake(15_000), false);
  assert.equal(spent.tryTake(17_000), true);
});

test('a restored action counts at the current rate', () => {
  const bucket = new TokenBucket(4, 1, 10_000);
  bucket.restoreSpent(5_000, 10_000);
  bucket.restoreSpent(8_000, 10_000);
  assert.equal(bucket.available(10_000), 1, 'long ago, at 4 a second');
  bucket.swapRate(0.1, 10_000);
  assert.equal(bucket.tryTake(17_999), false);
  assert.equal(bucket.tryTake(18_000), true);
  bucket.swapRate(4, 28_000);
  bucket.swapRate(0.01, 28_000);
  assert.equal(bucket.tryTake(28_000), true, 'own actions are unchanged');
});

test('resize keeps accumulated tokens up to the new burst, and refills at the new rate', () => {
  const bucket = new TokenBucket(10, 10, 0);
  for (let i = 0; i < 8; i++) bucket.tryTake(0);
  bucket.resize(20, 20, 100);
  assert.equal(bucket.available(100), 3);
  assert.equal(bucket.available(200), 5);
  bucket.resize(20, 20, 150);
  assert.equal(bucket.available(200), 5, 'the same size is no change');
  bucket.resize(1, 1, 200);
  assert.equal(bucket.available(200), 1);
  assert.equal(bucket.tryTake(200), true);
  assert.equal(bucket.nextAtMs(200), 1_200);
});

test('a token can be taken at nextAtMs, after years and at any rate', () => {
  const rates = fc.double({ min: 0.001, max: 10_000, noNaN: true });
  const starts = fc.double({ min: 0, max: 1e11, noNaN: true });
  fc.assert(
    fc.property(rates, starts, fc.integer({ min: 1, max: 5 }), (rate, startMs, burst) => {
      const bucket = new TokenBucket(rate, burst, startMs);
      let nowMs = startMs;
      for (let taken = 0; taken < 50; taken += 1) {
        nowMs = bucket.nextAtMs(nowMs);
        assert.equal(bucket.tryTake(nowMs), true);
      }
      const exactMs = startMs + ((50 - burst) * 1_000) / rate;
      assert.ok(Math.abs(nowMs - exactMs) <= 1e-6 * (nowMs - startMs) + 1e-3, `${nowMs} instead of ${exactMs}`);
    }),
  );
});

test('a returned token can be taken again, up to the burst', () => {
  const bucket = new TokenBucket(0.1, 1, 0);
  assert.equal(bucket.tryTake(0), true);
  bucket.returnToken(0);
  bucket.returnToken(0);
  assert.equal(bucket.tryTake(0), true);
  assert.equal(bucket.tryTake(0), false);
});

test('property: any window allows at most rate x window + burst, for any sequence of takes and rate changes', () => {
  const rates = fc.constantFrom(0, 0.01, 0.1, 0.5, 1, 10);
  const step = fc.record({ waitMs: fc.nat(5_000), rate: fc.option(rates, { nil: undefined }) });
  fc.assert(
    fc.property(rates, fc.integer({ min: 1, max: 3 }), fc.array(step, { maxLength: 60 }), (rate, burst, steps) => {
      const bucket = new TokenBucket(rate, burst, 0);
      let nowMs = 0;
      let rateNow = rate;
      // Refill since the start at the rate in force; the actions of a window may exceed its refill only by the burst.
      let refill = 0;
      const grants: { refill: number }[] = [];
      for (const { waitMs, rate: next } of steps) {
        nowMs += waitMs;
        refill += (waitMs * rateNow) / 1_000;
        if (next !== undefined) {
          bucket.swapRate(next, nowMs);
          // A change of rate may round a partial token up to a full bucket: once more the burst.
          if (next !== rateNow && next > 0 && bucket.available(nowMs) >= 1) grants.length = 0;
          rateNow = next;
        }
        if (bucket.tryTake(nowMs)) grants.push({ refill });
        const first = grants[0];
        if (first !== undefined) assert.ok(grants.length <= refill - first.refill + burst + 1e-6);
      }
    }),
  );
});

test('a returned token grants nothing if another one was taken since', () => {
  const bucket = new TokenBucket(0.1, 1, 0);
  assert.ok(bucket.tryTake(0));
  assert.ok(bucket.tryTake(10_000));
  bucket.returnToken(11_000, 0);
  assert.equal(bucket.canTake(11_000), false, 'the actions at 10 s and 11 s would exceed the rate');
  assert.equal(bucket.nextAtMs(11_000), 20_000);
  bucket.returnToken(12_000, 10_000);
  assert.ok(bucket.canTake(12_000), 'the last one did not happen');
});
