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

test('what waits, due or not, is counted as what it is', () => {
  const queue = new WorkQueue(limits);
  for (let i = 0; i < 20; i++) assert.equal(queue.add(`k${i}`, i * 10), true);
  assert.equal(queue.add('k5', 500), false);
  assert.deepEqual([queue.countDue(-1), queue.countDue(0), queue.countDue(95), queue.countDue(1_000)], [0, 1, 10, 20]);
  queue.take(95);
  assert.equal(queue.countDue(95), 9);
  assert.equal(queue.add('k0', 0), true, 'being worked on is not waiting');
  assert.equal(queue.add('k0', 0), false);
});

/** What a work queue is, said as plainly as possible: when each key is due, and which are being worked on. */
class PlainQueue {
  readonly due = new Map<string, number>();
  readonly working = new Set<string>();

  add(key: string, dueMs: number): void {
    this.due.set(key, Math.min(dueMs, this.due.get(key) ?? Infinity));
  }

  /** Keys that `take` may return: the earliest that is due and that nobody works on. */
  takable(nowMs: number): readonly string[] {
    const free = [...this.due].filter(([key, dueMs]) => dueMs <= nowMs && !this.working.has(key));
    const earliest = Math.min(...free.map(([, dueMs]) => dueMs));
    return free.filter(([, dueMs]) => dueMs === earliest).map(([key]) => key);
  }

  freeDue(): number | undefined {
    const free = [...this.due].filter(([key]) => !this.working.has(key)).map(([, dueMs]) => dueMs);
    return free.length === 0 ? undefined : Math.min(...free);
  }
}

type QueueStep =
  | { readonly do: 'add'; readonly key: string; readonly inMs: number }
  | { readonly do: 'take'; readonly key: string }
  | { readonly do: 'remove'; readonly key: string }
  | { readonly do: 'done'; readonly key: string; readonly outcome: 'forget' | 'look-again' | 'back-off' };

const key = fc.constantFrom('a', 'b', 'c', 'd');
const queueStep: fc.Arbitrary<QueueStep> = fc.oneof(
  fc.record({ do: fc.constant('add' as const), key, inMs: fc.integer({ min: -200, max: 400 }) }),
  fc.record({ do: fc.constant('take' as const), key }),
  fc.record({ do: fc.constant('remove' as const), key }),
  fc.record({
    do: fc.constant('done' as const),
    key,
    outcome: fc.constantFrom('forget' as const, 'look-again' as const, 'back-off' as const),
  }),
);

test('law: it behaves as the plainest queue does: one worker a key, nothing lost, once each, the earlier of two times', () => {
  fc.assert(
    fc.property(fc.array(fc.record({ step: queueStep, thenMs: fc.nat({ max: 150 }) }), { maxLength: 120 }), (steps) => {
      const queue = new WorkQueue(limits);
      const plain = new PlainQueue();
      const failures = new Map<string, number>();
      let nowMs = 0;
      const finish = (key: string, outcome: 'forget' | 'look-again' | 'back-off'): void => {
        plain.working.delete(key);
        if (outcome === 'back-off') {
          const count = failures.get(key) ?? 0;
          failures.set(key, count + 1);
          plain.add(key, nowMs + Math.min(limits.delayMsMin * 2 ** count, limits.delayMsMax));
          return queue.done(key, backOffAtLeast(undefined), nowMs);
        }
        failures.delete(key);
        if (outcome === 'look-again') plain.add(key, nowMs + 70);
        queue.done(key, outcome === 'forget' ? forget : { next: 'look-again', afterMs: 70 }, nowMs);
      };
      for (const { step, thenMs } of steps) {
        if (step.do === 'add') {
          const isNew = !plain.due.has(step.key);
          plain.add(step.key, nowMs + step.inMs);
          assert.equal(queue.add(step.key, nowMs + step.inMs), isNew);
        } else if (step.do === 'take') {
          const takable = plain.takable(nowMs);
          const taken = queue.take(nowMs);
          if (taken === undefined) assert.deepEqual(takable, []);
          else {
            assert.ok(takable.includes(taken), `${taken} is not among ${takable.join(' ')}`);
            plain.due.delete(taken);
            plain.working.add(taken);
          }
        } else if (step.do === 'remove') {
          assert.equal(queue.remove(step.key), plain.due.delete(step.key));
          failures.delete(step.key);
        } else if (plain.working.has(step.key)) finish(step.key, step.outcome);
        assert.equal(queue.size, plain.due.size);
        assert.equal(queue.nextDueMs(), plain.freeDue());
        assert.equal(queue.idle, plain.due.size + plain.working.size === 0);
        nowMs += thenMs;
      }
    }),
    { numRuns: 400 },
  );
});
