import assert from 'node:assert/strict';
import { test } from 'node:test';
import { RateLimitedQueues } from '../../../../src/machinery/queueing/rate-limited-queues.ts';
import { RateLimitedQueue } from '../../../../src/machinery/queueing/rate-limited-queue.ts';
import { TokenBucket } from '../../../../src/machinery/queueing/token-bucket.ts';

function aQueue(ratePerSecond = 1, onEarlier?: () => void): RateLimitedQueue {
  return new RateLimitedQueue(new TokenBucket(ratePerSecond, 1, 0), onEarlier);
}

test('a key whose action is in progress is queued, is not due, and cannot be added again', () => {
  const queue = aQueue();
  queue.add('a', 0);
  queue.add('b', 0);
  queue.begin('a');
  assert.equal(queue.peekDue(0), 'b');
  assert.equal(queue.add('a', 1), false);
  assert.deepEqual([queue.size, queue.has('a'), queue.oldestSinceMs()], [2, true, 0]);
  queue.begin('b');
  assert.equal(queue.peekDue(1_000_000), undefined);
});

test('a postponed key keeps its position', () => {
  const queue = aQueue();
  for (const key of ['a', 'b', 'c']) queue.add(key, 0);
  queue.postpone('a', 100);
  assert.equal(queue.peekDue(100), 'b', 'due after its wait, not at its end');
  assert.equal(queue.peekDue(101), 'a');
  assert.deepEqual(queue.keysInOrder(), ['a', 'b', 'c']);
});

test('backoff doubles from 100 ms to 30 s, respects the requested minimum, and ends with the entry', () => {
  const queue = aQueue();
  queue.add('a', 0);
  let nowMs = 0;
  const waitMs = (atLeastMs?: number): number => {
    queue.begin('a');
    queue.retry('a', nowMs, atLeastMs);
    const before = nowMs;
    while (queue.peekDue(nowMs) === undefined) nowMs += 50;
    return nowMs - before - 50;
  };
  assert.deepEqual([waitMs(), waitMs(), waitMs()], [100, 200, 400]);
  assert.equal(waitMs(5_000), 5_000);
  for (let left = 10; left > 0; left -= 1) waitMs();
  assert.equal(waitMs(), 30_000);
  queue.remove('a');
  queue.add('a', nowMs);
  assert.equal(waitMs(), 100);
});

test('a key that was removed while its action was in progress stays removed', () => {
  const queue = aQueue();
  queue.add('a', 0);
  queue.begin('a');
  queue.remove('a');
  queue.retry('a', 0);
  queue.postpone('a', 0);
  assert.deepEqual([queue.size, queue.peekDue(1_000_000)], [0, undefined]);
});

test('the next due time needs a due key and a token', () => {
  const queue = aQueue(0.1);
  assert.equal(queue.nextDueMs(0), Infinity, 'nothing waits');
  queue.add('a', 0);
  assert.equal(queue.nextDueMs(0), 0);
  assert.ok(queue.tryTakeToken(0));
  assert.equal(queue.nextDueMs(0), 10_000);
  queue.postpone('a', 15_000);
  assert.ok(Math.abs(queue.nextDueMs(0) - 15_000) < 0.001);
  queue.begin('a');
  assert.equal(queue.nextDueMs(20_000), Infinity, 'under way');
  queue.postpone('a', 20_000);
  queue.swapRate(0, 20_000);
  assert.equal(queue.nextDueMs(20_001), Infinity, 'stopped');
});

test('every change that moves the next due time forward calls onEarlier', () => {
  let announced = 0;
  const lines = new RateLimitedQueues({
    limit: () => ({ ratePerSecond: 0.1, burst: 1 }),
    onLength: () => undefined,
  });
  lines.onEarlier(() => {
    announced += 1;
  });
  const isAnnounced = (act: () => void): boolean => {
    const before = announced;
    act();
    return announced > before;
  };
  assert.ok(isAnnounced(() => lines.add('a', 'z', 0)));
  const queue = lines.ensure('z', 0);
  assert.ok(queue.tryTakeToken(0));
  queue.begin('a');
  assert.ok(isAnnounced(() => queue.retry('a', 0)));
  assert.ok(isAnnounced(() => queue.returnToken(0)));
  assert.ok(isAnnounced(() => lines.swapRate('z', 1, 0)));
  assert.equal(lines.queueOf('a'), queue);
  assert.ok(Math.abs(lines.nextDueMs(0) - 100) < 0.001, 'the end of its wait');
});
