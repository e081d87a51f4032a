import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  type HeldConditions,
  type Observations,
  planEvictionPass,
} from '../../../../../src/hollow-cluster/kubelet/machine/plan-eviction-pass.ts';

const mebibyte = 1_024 ** 2;

/** Mebibytes that are available, of 1,000. */
function observe({ memory = 500, disk = 500 }: { readonly memory?: number; readonly disk?: number }): Observations {
  return new Map([
    ['memory.available', { available: memory * mebibyte, capacity: 1_000 * mebibyte }],
    ['nodefs.available', { available: disk * mebibyte, capacity: 1_000 * mebibyte }],
  ]);
}

function pass(
  held: HeldConditions,
  nowMs: number,
  left: Parameters<typeof observe>[0],
): ReturnType<typeof planEvictionPass> {
  return planEvictionPass({ held, observations: observe(left), nowMs, holdMs: 300_000 });
}

const nothing: HeldConditions = new Map();

describe('one evaluation of the signals', () => {
  it('finds no condition on a machine with enough resources, and needs no repetition', () => {
    const found = pass(nothing, 0, {});
    assert.deepEqual([[...found.held], found.pressing, found.dueAtMs], [[], [], undefined]);
  });

  it('puts memory first', () => {
    const seen = pass(nothing, 0, { memory: 5, disk: 5 }).pressing.map(({ signal }) => signal);
    assert.deepEqual(seen, ['memory.available', 'nodefs.available']);
  });

  it('finds nothing exactly at the limits: 100 MiB of memory, a tenth of the disk', () => {
    assert.equal(pass(nothing, 0, { memory: 100, disk: 100 }).pressing.length, 0);
    assert.equal(pass(nothing, 0, { memory: 99, disk: 99 }).pressing.length, 2);
  });

  it('reports a condition until the transition period after it was last true', () => {
    const first = pass(nothing, 0, { disk: 5 });
    const last = pass(first.held, 299_999, {});
    assert.deepEqual([[...last.held.keys()], last.dueAtMs], [['DiskPressure'], 300_000]);
    assert.deepEqual([...pass(last.held, 300_000, {}).held], []);
  });

  it('ignores a signal without a measurement', () => {
    const found = planEvictionPass({ held: nothing, observations: new Map(), nowMs: 0, holdMs: 1 });
    assert.deepEqual([...found.held], []);
  });
});
