import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { Ring } from '../../../../src/machinery/queueing/ring.ts';

test('a ring keeps the last items, oldest first', () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 6 }), fc.array(fc.integer()), (capacity, items) => {
      const ring = new Ring<number>(capacity);
      for (const item of items) ring.add(item);
      assert.deepEqual(ring.values(), items.slice(-capacity));
      assert.equal(ring.size, Math.min(capacity, items.length));
      ring.clear();
      assert.deepEqual(ring.values(), []);
    }),
  );
});

test('a capacity below 1 is rejected', () => {
  assert.throws(() => new Ring(0), /capacity: must be an integer >= 1 \(got 0\)/);
});
