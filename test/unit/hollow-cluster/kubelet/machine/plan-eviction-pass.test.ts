import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  planEvictionPass,
  type EvictionMemory,
  nothingObserved,
  type Observations,
} from '../../../../../src/hollow-cluster/kubelet/machine/plan-eviction-pass.ts';
import { parseThresholds } from '../../../../../src/hollow-cluster/kubelet/machine/parse-thresholds.ts';
import { profileV136 } from '../../../../../src/hollow-cluster/kubelet/profile.ts';

const holdMs = 300_000;
const thresholds = parseThresholds({
  ...profileV136,
  evictionHard: { 'nodefs.available': '10', 'memory.available': '10' },
  evictionSoft: { 'memory.available': '20' },
  evictionSoftGracePeriodMs: { 'memory.available': 90_000 },
});

function observe(nowMs: number, left: { readonly memory?: number; readonly disk?: number }): Observations {
  const { memory = 100, disk = 100 } = left;
  return new Map([
    ['memory.available', { available: memory, capacity: 100, atMs: nowMs }],
    ['nodefs.available', { available: disk, capacity: 100, atMs: nowMs }],
  ]);
}

function pass(memory: EvictionMemory, nowMs: number, left: Parameters<typeof observe>[1]) {
  return planEvictionPass({ thresholds, memory, observations: observe(nowMs, left), nowMs, holdMs });
}

describe('one evaluation of the signals', () => {
  it('finds no condition on a machine with enough resources, and needs no repetition', () => {
    const found = pass(nothingObserved, 0, {});
    assert.deepEqual([found.conditions, found.pressing, found.dueAtMs], [[], [], undefined]);
  });

  it('puts memory thresholds first', () => {
    const { pressing } = pass(nothingObserved, 0, { memory: 5, disk: 5 });
    const seen = pressing.map(({ signal, isHard }) => `${signal} ${isHard}`);
    assert.deepEqual(seen, ['memory.available true', 'nodefs.available true']);
  });

  it('counts a grace period from the first pass that found the threshold met, and again after one that did not', () => {
    const first = pass(nothingObserved, 0, { memory: 15 });
    assert.deepEqual([first.conditions, first.pressing.length], [['MemoryPressure'], 0]);
    assert.equal(pass(first.memory, 89_999, { memory: 15 }).pressing.length, 0);
    assert.equal(pass(first.memory, 90_000, { memory: 15 }).pressing.length, 1);
    const between = pass(first.memory, 50_000, { memory: 50 });
    const again = pass(between.memory, 60_000, { memory: 15 });
    assert.equal(pass(again.memory, 90_000, { memory: 15 }).pressing.length, 0);
  });

  it('reports a condition until the transition period after it was last true', () => {
    const first = pass(nothingObserved, 0, { disk: 5 });
    const last = pass(first.memory, 299_999, {});
    assert.deepEqual([last.conditions, last.dueAtMs], [['DiskPressure'], 300_000]);
    assert.deepEqual(pass(last.memory, 300_000, {}).conditions, []);
  });

  it('ignores a signal without a measurement', () => {
    const question = { thresholds, memory: nothingObserved, observations: new Map(), nowMs: 0, holdMs };
    const found = planEvictionPass(question);
    assert.deepEqual(found.conditions, []);
  });
});
