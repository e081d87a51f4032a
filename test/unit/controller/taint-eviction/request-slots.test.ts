import assert from 'node:assert/strict';
import { test } from 'node:test';
import { RequestSlots } from '../../../../src/controller/taint-eviction/request-slots.ts';

test('a slot that is free wakes the key that waits for the longest time, and one that left is not woken', () => {
  const woken: string[] = [];
  const slots = new RequestSlots(2, (key) => woken.push(key));
  assert.deepEqual(
    ['a', 'b', 'c', 'd', 'e'].map((key) => slots.tryTake(key)),
    [true, true, false, false, false],
  );
  slots.remove('c');
  slots.remove('a');
  assert.equal(slots.tryTake('d'), false, 'a request in flight keeps its slot');
  slots.free('a');
  slots.free('a');
  assert.deepEqual(woken, ['d', 'e']);
  assert.equal(slots.tryTake('d'), true);
  assert.equal(slots.size, 3);
  slots.free('x');
  assert.deepEqual(woken, ['d', 'e']);
});

test('more than the first are woken, as that may not want its slot any more, and each keeps its place', () => {
  const woken: string[] = [];
  const slots = new RequestSlots(1, (key) => woken.push(key));
  for (const key of ['a', 'b', 'c', 'd', 'e', 'f', 'g']) slots.tryTake(key);
  slots.free('a');
  assert.deepEqual(woken, ['b', 'c', 'd', 'e']);
  assert.equal(slots.tryTake('c'), true);
  slots.free('c');
  assert.deepEqual(woken.slice(4), ['b', 'd', 'e', 'f']);
});
