import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { SparseMap } from '../../../../../src/hollow-cluster/kubelet/queues/sparse-map.ts';

type Step = readonly ['set' | 'delete' | 'clear', number];

const step: fc.Arbitrary<Step> = fc.tuple(
  fc.constantFrom('set' as const, 'delete' as const, 'clear' as const),
  fc.nat({ max: 4 }),
);

describe('a sparse map', () => {
  it('behaves like a Map', () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 30 }), (steps) => {
        const [sparse, map] = [new SparseMap<number, number>(), new Map<number, number>()];
        for (const [index, [what, key]] of steps.entries()) {
          if (what === 'delete') assert.equal(sparse.delete(key), map.delete(key));
          else if (what === 'set') assert.equal(sparse.set(key, index).get(key), map.set(key, index).get(key));
          else for (const each of [sparse, map]) each.clear();
          assert.deepEqual([...sparse], [...map]);
          assert.deepEqual([...sparse.keys()], [...map.keys()]);
          assert.deepEqual([...sparse.values()], [...map.values()]);
          assert.deepEqual([sparse.size, sparse.has(key), sparse.get(key)], [map.size, map.has(key), map.get(key)]);
        }
      }),
    );
  });
});
