import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import {
  backOffAtLeast,
  forget,
  park,
  type WorkOutcome,
  WorkQueue,
} from '../../../../src/machinery/queueing/work-queue.ts';

const limits = { delayMsMin: 100, delayMsMax: 1_000 };

test('a key is queued once, and of two times the earlier wins', () => {
  const queue = new WorkQueue(limits);
  queue.add('a', 50);
  queue.add('a', 10);
  queue.add('a', 90);
  assert.deepEqual([queue.size, queue.nextDueMs()], [1, 10]);
});

test('a key in process is not taken twice, and an addition meanwhile is processed again', () => {
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

test('failures back off exponentially up to the limit, and success resets the backoff', () => {
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
  assert.equal((queue.nextDueMs() ?? 0) - nowMs, 700, "the server's delay is the minimum");
});

test('conflicts are counted apart from other failures, back off too, and success resets both', () => {
  const queue = new WorkQueue(limits);
  queue.add('a', 0);
  const fail = (outcome: WorkOutcome): number => {
    const nowMs = queue.nextDueMs() ?? NaN;
    queue.take(nowMs);
    queue.done('a', outcome, nowMs);
    return (queue.nextDueMs() ?? NaN) - nowMs;
  };
  const conflict = { next: 'backoff', isConflict: true } as const;
  const failure = backOffAtLeast(undefined);
  assert.deepEqual([failure, failure, conflict, conflict, failure].map(fail), [100, 200, 100, 200, 400]);
  assert.equal(fail({ next: 'backoff', isConflict: true, atLeastMs: 700 }), 700);
  queue.take(queue.nextDueMs() ?? NaN);
  queue.done('a', forget, 0);
  assert.equal(queue.remembered, 0);
});

test('a key that waits or is parked between its failures backs off as if it had not', () => {
  const queue = new WorkQueue(limits);
  const fail = (): number => {
    queue.add('a', 0);
    queue.take(0);
    queue.done('a', backOffAtLeast(undefined), 0);
    const dueMs = queue.nextDueMs() ?? NaN;
    queue.take(dueMs);
    return dueMs;
  };
  assert.equal(fail(), 100);
  queue.done('a', { next: 'requeue', afterMs: 5 }, 0);
  assert.equal(queue.take(5), 'a');
  queue.done('a', park, 5);
  assert.deepEqual([queue.size, queue.remembered], [0, 1]);
  assert.equal(fail(), 200);
  queue.done('a', park, 5);
  queue.remove('a');
  assert.equal(queue.remembered, 0);
});

test('size and countDue count queued and due keys', () => {
  const queue = new WorkQueue(limits);
  for (let i = 0; i < 20; i++) assert.equal(queue.add(`k${i}`, i * 10), true);
  assert.equal(queue.add('k5', 500), false);
  assert.deepEqual([queue.countDue(-1), queue.countDue(0), queue.countDue(95), queue.countDue(1_000)], [0, 1, 10, 20]);
  queue.take(95);
  assert.equal(queue.countDue(95), 9);
  assert.equal(queue.add('k0', 0), true, 'a key in process is not queued');
  assert.equal(queue.add('k0', 0), false);
});

/** A simple model of a work queue: when each key is due, and which keys are in process. */
class PlainQueue {
  readonly due = new Map<string, number>();
  readonly working = new Set<string>();

  add(key: string, dueMs: number): void {
    this.due.set(key, Math.min(dueMs, this.due.get(key) ?? Infinity));
  }

  /** Keys that `take` may return: the earliest due keys that are not in process. */
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
  | { readonly do: 'done'; readonly key: string; readonly outcome: 'forget' | 'requeue' | 'backoff' };

const key = fc.constantFrom('a', 'b', 'c', 'd');
const queueStep: fc.Arbitrary<QueueStep> = fc.oneof(
  fc.record({ do: fc.constant('add' as const), key, inMs: fc.integer({ min: -200, max: 400 }) }),
  fc.record({ do: fc.constant('take' as const), key }),
  fc.record({ do: fc.constant('remove' as const), key }),
  fc.record({
    do: fc.constant('done' as const),
    key,
    outcome: fc.constantFrom('forget' as const, 'requeue' as const, 'backoff' as const),
  }),
);

test('property: equals the simple model: one worker per key, no key lost, queued once, the earlier of two times', () => {
  fc.assert(
    fc.property(fc.array(fc.record({ step: queueStep, thenMs: fc.nat({ max: 150 }) }), { maxLength: 120 }), (steps) => {
      const queue = new WorkQueue(limits);
      const plain = new PlainQueue();
      const failures = new Map<string, number>();
      let nowMs = 0;
      const finish = (key: string, outcome: 'forget' | 'requeue' | 'backoff'): void => {
        plain.working.delete(key);
        if (outcome === 'backoff') {
          const count = failures.get(key) ?? 0;
          failures.set(key, count + 1);
          plain.add(key, nowMs + Math.min(limits.delayMsMin * 2 ** count, limits.delayMsMax));
          return queue.done(key, backOffAtLeast(undefined), nowMs);
        }
        failures.delete(key);
        if (outcome === 'requeue') plain.add(key, nowMs + 70);
        queue.done(key, outcome === 'forget' ? forget : { next: 'requeue', afterMs: 70 }, nowMs);
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
