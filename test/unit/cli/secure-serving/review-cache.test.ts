import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ReviewCache, type ReviewCacheOptions } from '../../../../src/cli/secure-serving/review-cache.ts';
import { ManualClock } from '../../../support/manual-clock.ts';

interface Answer {
  readonly good: boolean;
}

/** A cache in front of a list of good keys, which counts what it is asked. */
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
      strangers: { qps: 1, burst: 3 },
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

test('an answer holds for its time, a good one for another than a bad one', async () => {
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

test('a time of 0 asks each time, but not twice at once', async () => {
  const asked = new Asked({ goodForMs: 0 });
  asked.good.add('a');
  await Promise.all([asked.answer('a'), asked.answer('a')]);
  assert.deepEqual(asked.questions, ['a']);
  await asked.answer('a');
  assert.deepEqual(asked.questions, ['a', 'a']);
});

test('a question that fails fails for all who wait, and is asked again by the next', async () => {
  const { cache, clock } = new Asked();
  const failing = (): Promise<Answer> => Promise.reject(new Error('away'));
  const both = await Promise.allSettled([cache.answer('a', failing), cache.answer('a', failing)]);
  assert.deepEqual(
    both.map(({ status }) => status),
    ['rejected', 'rejected'],
  );
  assert.deepEqual(await cache.answer('a', () => Promise.resolve({ good: true })), { good: true });
  await clock.advance(10_000);
  await assert.rejects(cache.answer('a', failing), /away/, 'what held once holds no longer');
});

test('strangers spend their own allowance, and who was let in before has another', async () => {
  const asked = new Asked();
  asked.good.add('friend');
  await asked.answer('friend');
  await asked.clock.advance(10_000);
  const strangers = await Promise.all(Array.from({ length: 10 }, (_, i) => asked.answer(`stranger-${i}`)));
  assert.equal(strangers.filter((answer) => answer === 'busy').length, 7);
  assert.deepEqual(await asked.answer('friend'), { good: true });
  assert.equal(await asked.answer('stranger-9'), 'busy');
  await asked.clock.advance(1_000);
  assert.deepEqual(await asked.answer('stranger-9'), { good: false });
});

test('who is no longer good is a stranger, and who has become good is not', async () => {
  const asked = new Asked({ strangers: { qps: 0.001, burst: 2 } });
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

test('strangers cannot push out who was let in, and only so many answers are kept', async () => {
  const asked = new Asked({ strangers: { qps: 0, burst: 0 }, known: { qps: 0, burst: 0 } });
  assert.equal(await asked.answer('a'), 'busy', 'a rate of nothing grants nothing');
  const roomy = new Asked({ strangers: { qps: 100, burst: 100 } });
  roomy.good.add('friend');
  await roomy.answer('friend');
  for (let i = 0; i < 20; i++) await roomy.answer(`stranger-${i}`);
  await roomy.answer('friend');
  await roomy.answer('stranger-19');
  assert.equal(roomy.questions.length, 21);
  await roomy.answer('stranger-0');
  assert.equal(roomy.questions.length, 22, 'the oldest is forgotten');
});
