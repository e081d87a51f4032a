import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ReviewCache, type ReviewCacheOptions } from '../../../../src/cli/secure-serving/review-cache.ts';
import { ManualClock } from '../../../support/manual-clock.ts';

interface Answer {
  readonly good: boolean;
}

/** A cache in front of a list of allowed keys, which records the requests. */
class Asked {
  readonly clock = new ManualClock();
  readonly good = new Set<string>();
  readonly questions: string[] = [];
  readonly cache: ReviewCache<Answer>;

  constructor(options: Partial<ReviewCacheOptions<Answer>> = {}) {
    this.cache = new ReviewCache({
      clock: this.clock,
      entriesMax: 4,
      isGood: ({ good }) => good,
      goodForMs: 10_000,
      badForMs: 2_000,
      known: { qps: 1, burst: 2 },
      unauthenticated: { qps: 1, burst: 3 },
      ...options,
    });
  }

  answer(key: string): Promise<Answer | 'busy'> {
    return this.cache.answer(key, () => {
      this.questions.push(key);
      return Promise.resolve({ good: this.good.has(key) });
    });
  }
}

test('positive and negative results are cached for their own time to live', async () => {
  const asked = new Asked();
  asked.good.add('a');
  await asked.answer('a');
  await asked.answer('b');
  await asked.clock.advance(1_999);
  assert.deepEqual([await asked.answer('a'), await asked.answer('b')], [{ good: true }, { good: false }]);
  assert.deepEqual(asked.questions, ['a', 'b']);
  await asked.clock.advance(1);
  await asked.answer('b');
  await asked.clock.advance(7_999);
  await asked.answer('a');
  assert.deepEqual(asked.questions, ['a', 'b', 'b']);
  await asked.clock.advance(1);
  await asked.answer('a');
  assert.deepEqual(asked.questions, ['a', 'b', 'b', 'a']);
});

test('a time to live of 0 disables caching; concurrent requests for one key are still combined', async () => {
  const asked = new Asked({ goodForMs: 0 });
  asked.good.add('a');
  await Promise.all([asked.answer('a'), asked.answer('a')]);
  assert.deepEqual(asked.questions, ['a']);
  await asked.answer('a');
  assert.deepEqual(asked.questions, ['a', 'a']);
});

test('a failed request rejects all waiting callers and is not cached', async () => {
  const { cache, clock } = new Asked();
  const failing = (): Promise<Answer> => Promise.reject(new Error('away'));
  const both = await Promise.allSettled([cache.answer('a', failing), cache.answer('a', failing)]);
  const statuses = both.map(({ status }) => status);
  assert.deepEqual(statuses, ['rejected', 'rejected']);
  assert.deepEqual(await cache.answer('a', () => Promise.resolve({ good: true })), { good: true });
  await clock.advance(10_000);
  await assert.rejects(cache.answer('a', failing), /away/, 'the earlier result has expired');
});

test('new keys and keys with a positive last result have separate rate limits', async () => {
  const asked = new Asked();
  asked.good.add('known');
  await asked.answer('known');
  await asked.clock.advance(10_000);
  const results = await Promise.all(Array.from({ length: 10 }, (_, i) => asked.answer(`unknown-${i}`)));
  assert.equal(results.filter((answer) => answer === 'busy').length, 7);
  assert.deepEqual(await asked.answer('known'), { good: true });
  assert.equal(await asked.answer('unknown-9'), 'busy');
  await asked.clock.advance(1_000);
  assert.deepEqual(await asked.answer('unknown-9'), { good: false });
});

test('the last result decides which rate limit applies to a key', async () => {
  const asked = new Asked({ unauthenticated: { qps: 0.001, burst: 2 } });
  asked.good.add('leaver');
  await asked.answer('leaver');
  await asked.answer('comer');
  asked.good.delete('leaver');
  await asked.clock.advance(10_000);
  assert.deepEqual(await asked.answer('leaver'), { good: false });
  await asked.clock.advance(2_000);
  assert.equal(await asked.answer('leaver'), 'busy');
  assert.equal(await asked.answer('comer'), 'busy');
});

test('negative results do not evict positive ones, and the cache is bounded', async () => {
  const asked = new Asked({ unauthenticated: { qps: 0, burst: 0 }, known: { qps: 0, burst: 0 } });
  assert.equal(await asked.answer('a'), 'busy', 'a rate of 0 allows no request');
  const roomy = new Asked({ unauthenticated: { qps: 100, burst: 100 } });
  roomy.good.add('known');
  await roomy.answer('known');
  for (let i = 0; i < 20; i++) await roomy.answer(`unknown-${i}`);
  await roomy.answer('known');
  await roomy.answer('unknown-19');
  assert.equal(roomy.questions.length, 21);
  await roomy.answer('unknown-0');
  assert.equal(roomy.questions.length, 22, 'the oldest entry is evicted');
});
