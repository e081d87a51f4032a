import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { selectFirstEvictions } from '../../../../src/dashboard/server/dashboard-evictions.ts';

test('the first ones by time and name, whatever their order', () => {
  const times = fc.array(fc.integer({ min: 0, max: 20 }), { maxLength: 60 });
  fc.assert(
    fc.property(times, fc.integer({ min: 1, max: 5 }), (atMs, max) => {
      const all = atMs.map((at, i) => ({ pod: `p${i}`, node: 'n', atMs: at }));
      const sorted = all.toSorted((a, b) => a.atMs - b.atMs || (a.pod < b.pod ? -1 : 1));
      assert.deepEqual(selectFirstEvictions(all, max), sorted.slice(0, max));
    }),
  );
});
