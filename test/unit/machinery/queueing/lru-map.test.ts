import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { LruMap } from '../../../../src/machinery/queueing/lru-map.ts';

test('evicts the least recently used entry; a read counts as use', () => {
  const map = new LruMap<number>(2);
  map.set('a', 1);
  map.set('b', 2);
  assert.equal(map.get('a'), 1);
  map.set('c', 3);
  assert.equal(map.get('b'), undefined);
  assert.equal(map.get('a'), 1);
  assert.equal(map.get('c'), 3);
});

test('returns the evicted value', () => {
  const map = new LruMap<number>(1);
  assert.equal(map.set('a', 1), undefined);
  assert.equal(map.set('a', 2), undefined);
  assert.equal(map.set('b', 3), 2);
});

test('peek and replace do not count as use, and replace changes only existing keys', () => {
  const map = new LruMap<number>(2);
  map.set('a', 1);
  map.set('b', 2);
  assert.equal(map.peek('a'), 1);
  map.replace('a', 3);
  map.replace('x', 9);
  const seen = [...map.entries()];
  assert.deepEqual(seen, [
    ['a', 3],
    ['b', 2],
  ]);
  assert.equal(map.set('c', 4), 3);
  map.delete('b');
  assert.deepEqual([...map.entries()], [['c', 4]]);
});

test('property: equals a list in order of use', () => {
  const uses = fc.array(fc.tuple(fc.boolean(), fc.nat({ max: 9 }).map(String), fc.nat()), { maxLength: 80 });
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 6 }), uses, (entriesMax, steps) => {
      const map = new LruMap<number>(entriesMax);
      let model: [string, number][] = [];
      for (const [write, key, value] of steps) {
        const known = model.find(([name]) => name === key);
        if (!write) assert.equal(map.get(key), known?.[1]);
        else map.set(key, value);
        const next: [string, number] | undefined = write ? [key, value] : known;
        if (next !== undefined) model = [...model.filter(([name]) => name !== key), next].slice(-entriesMax);
        assert.equal(map.size, model.length);
      }
    }),
  );
});
