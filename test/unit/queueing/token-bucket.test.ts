import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { TokenBucket } from '../../../src/queueing/token-bucket.ts';

test('0.1 a second and burst 1 grants at 0, 10, 20 s exactly, however often it is asked', () => {
  const bucket = new TokenBucket(0.1, 1, 0);
  const granted: number[] = [];
  for (let nowMs = 0; nowMs <= 30_000; nowMs += 100) if (bucket.tryTake(nowMs)) granted.push(nowMs);
  assert.deepEqual(granted, [0, 10_000, 20_000, 30_000]);
});

test('a rate of 0 never grants, and leaving it starts empty', () => {
  const bucket = new TokenBucket(0, 1, 0);
  assert.equal(bucket.tryTake(1e9), false);
  assert.equal(bucket.nextAtMs(1e9), Infinity);
  bucket.swapRate(1, 1e9);
  assert.equal(bucket.tryTake(1e9), false);
  assert.equal(bucket.tryTake(1e9 + 999), false);
  assert.equal(bucket.tryTake(1e9 + 1_000), true);
});

test('a swap keeps a full bucket full and an empty one empty; the same rate is no swap', () => {
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

test('an act of another bucket counts at the rate that turns out to be in force', () => {
  const bucket = new TokenBucket(4, 1, 10_000);
  bucket.recall(5_000, 10_000);
  bucket.recall(8_000, 10_000);
  assert.equal(bucket.available(10_000), 1, 'long ago, at 4 a second');
  bucket.swapRate(0.1, 10_000);
  assert.equal(bucket.tryTake(17_999), false);
  assert.equal(bucket.tryTake(18_000), true);
  bucket.swapRate(4, 28_000);
  bucket.swapRate(0.01, 28_000);
  assert.equal(bucket.tryTake(28_000), true, 'our own acts are what they were');
});

test('another size keeps what has gathered, as far as the new burst goes, and refills at the new rate from then on', () => {
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

test('a token given back can be taken again, and never more than the burst', () => {
  const bucket = new TokenBucket(0.1, 1, 0);
  assert.equal(bucket.tryTake(0), true);
  bucket.giveBack(0);
  bucket.giveBack(0);
  assert.equal(bucket.tryTake(0), true);
  assert.equal(bucket.tryTake(0), false);
});

test('in any window at most rate x window + burst, through any history of asking and swapping', () => {
  const rates = fc.constantFrom(0, 0.01, 0.1, 0.5, 1, 10);
  const step = fc.record({ waitMs: fc.nat(5_000), rate: fc.option(rates, { nil: undefined }) });
  fc.assert(
    fc.property(rates, fc.integer({ min: 1, max: 3 }), fc.array(step, { maxLength: 60 }), (rate, burst, steps) => {
      const bucket = new TokenBucket(rate, burst, 0);
      let nowMs = 0;
      let rateNow = rate;
      // Refill since the start at whatever rate was in force; a window's grants may exceed its refill by the burst only.
      let refill = 0;
      const grants: { refill: number }[] = [];
      for (const { waitMs, rate: next } of steps) {
        nowMs += waitMs;
        refill += (waitMs * rateNow) / 1_000;
        if (next !== undefined) {
          bucket.swapRate(next, nowMs);
          // A swap may round a started token up to a whole bucket: that is the burst again, once.
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
