import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { backOffAtLeast, forget, WorkQueue } from '../../../src/queueing/work-queue.ts';

const limits = { delayMsMin: 100, delayMsMax: 1_000 };

test('a key waits once, and of two times the earlier wins', () => {
  const queue = new WorkQueue(limits);
  queue.add('a', 50);
  queue.add('a', 10);
  queue.add('a', 90);
  assert.equal(queue.size, 1);
  assert.equal(queue.nextDueMs(), 10);
});

test('a key that is worked on is not taken twice, and what was added meanwhile is looked at again', () => {
  const queue = new WorkQueue(limits);
  queue.add('a', 0);
  assert.equal(queue.take(0), 'a');
  queue.add('a', 0);
  assert.equal(queue.take(0), undefined);
  queue.done('a', forget, 5);
  assert.equal(queue.take(5), 'a');
  queue.done('a', forget, 5);
  assert.equal(queue.idle, true);
});

test('failures wait longer each time up to the limit, and success forgets them', () => {
  const queue = new WorkQueue(limits);
  const waits: (number | undefined)[] = [];
  let nowMs = 0;
  queue.add('a', 0);
  for (let i = 0; i < 6; i++) {
    queue.take(nowMs);
    queue.done('a', backOffAtLeast(undefined), nowMs);
    waits.push((queue.nextDueMs() ?? 0) - nowMs);
    nowMs = queue.nextDueMs() ?? nowMs;
  }
  assert.deepEqual(waits, [100, 200, 400, 800, 1_000, 1_000]);
  queue.take(nowMs);
  queue.done('a', forget, nowMs);
  queue.add('a', nowMs);
  queue.take(nowMs);
  queue.done('a', backOffAtLeast(700), nowMs);
  assert.equal((queue.nextDueMs() ?? 0) - nowMs, 700, 'what the server asked for is the least');
});

test('no key is ever lost: whatever was added after it was last taken will be taken', () => {
  const step = fc.record({ op: fc.constantFrom('add', 'take', 'done', 'fail'), key: fc.constantFrom('a', 'b', 'c') });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 80 }), (steps) => {
      const queue = new WorkQueue(limits);
      const wanted = new Set<string>();
      const working = new Set<string>();
      let nowMs = 0;
      for (const { op, key } of steps) {
        nowMs += 50;
        if (op === 'add') {
          queue.add(key, nowMs);
          wanted.add(key);
        } else if (op === 'take') {
          const taken = queue.take(nowMs);
          if (taken !== undefined) {
            assert.equal(working.has(taken), false);
            working.add(taken);
            wanted.delete(taken);
          }
        } else if (working.delete(key)) {
          if (op === 'fail') wanted.add(key);
          queue.done(key, op === 'fail' ? backOffAtLeast(undefined) : forget, nowMs);
        }
      }
      for (const key of working) queue.done(key, forget, nowMs);
      const left = new Set<string>();
      for (let key = queue.take(nowMs + 1e6); key !== undefined; key = queue.take(nowMs + 1e6)) left.add(key);
      assert.deepEqual([...left].sort(), [...wanted].sort());
    }),
  );
});
