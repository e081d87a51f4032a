import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { KeyedHeap } from '../../../../src/machinery/queueing/keyed-heap.ts';

test('keys are ordered by time, and by insertion if times are equal', () => {
  const heap = new KeyedHeap();
  heap.set('late', 20);
  heap.set('first', 10);
  heap.set('second', 10);
  assert.deepEqual(heap.keysInOrder(), ['first', 'second', 'late']);
  assert.equal(heap.popDue(9), undefined);
  assert.deepEqual([heap.popDue(10), heap.popDue(10), heap.popDue(10)], ['first', 'second', undefined]);
});

test('property: the heap equals a sorted list after any operations', () => {
  const step = fc.oneof(
    fc.record({ op: fc.constant('set' as const), key: fc.constantFrom('a', 'b', 'c', 'd', 'e', 'f'), due: fc.nat(20) }),
    fc.record({
      op: fc.constant('remove' as const),
      key: fc.constantFrom('a', 'b', 'c', 'd', 'e', 'f'),
      due: fc.nat(20),
    }),
    fc.record({ op: fc.constant('pop' as const), key: fc.constant(''), due: fc.nat(20) }),
  );
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
      const heap = new KeyedHeap();
      let model: { key: string; due: number }[] = [];
      for (const { op, key, due } of steps) {
        if (op === 'pop') {
          const head = model[0];
          const expected = head !== undefined && head.due <= due ? head.key : undefined;
          assert.equal(heap.popDue(due), expected);
          model = model.filter((entry) => entry.key !== expected);
        } else {
          assert.equal(
            heap.has(key),
            model.some((entry) => entry.key === key),
          );
          // A key that is set again with the same time keeps its place.
          const isUnchanged = op === 'set' && model.some((entry) => entry.key === key && entry.due === due);
          if (!isUnchanged) model = model.filter((entry) => entry.key !== key);
          if (op === 'remove') heap.remove(key);
          else heap.set(key, due);
          if (op === 'set' && !isUnchanged) {
            model.push({ key, due });
            model.sort((a, b) => a.due - b.due); // stable: equal times keep the order of setting
          }
        }
        assert.deepEqual(
          heap.keysInOrder(),
          model.map((entry) => entry.key),
        );
        assert.equal(heap.size, model.length);
      }
    }),
  );
});

test('all due keys are taken, earliest first, and the time until the next one is known', () => {
  const heap = new KeyedHeap();
  assert.equal(heap.dueInMs(0), Infinity);
  for (const [key, dueMs] of [
    ['c', 30],
    ['a', 10],
    ['b', 20],
  ] as const)
    heap.set(key, dueMs);
  assert.equal(heap.dueInMs(4), 6);
  assert.equal(heap.dueInMs(15), 0, 'one is overdue');
  assert.deepEqual(heap.takeDue(20), ['a', 'b']);
  assert.deepEqual(heap.takeDue(20), []);
  assert.equal(heap.dueInMs(20), 10);
});
