import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { PodView } from '../../../../src/machinery/api/pod.ts';
import { AcceptedDeletions } from '../../../../src/controller/taint-eviction/accepted-deletions.ts';

function aPod(over: Partial<PodView> = {}): PodView {
  return { namespace: 'default', name: 'a', uid: 'uid-a', terminating: false, ...over } as PodView;
}

function accepted(listSentAtMs?: number): AcceptedDeletions {
  const deletions = new AcceptedDeletions(() => listSentAtMs);
  deletions.add(aPod(), 1_000);
  return deletions;
}

test('a deletion is under way although the cache does not show it, for five minutes', () => {
  const deletions = accepted();
  assert.equal(deletions.isUnderWay(aPod(), 300_999), true);
  assert.equal(deletions.isUnderWay(aPod(), 301_000), false);
  assert.equal(deletions.isUnderWay(aPod({ terminating: true }), 900_000), true);
});

test('a pod that terminated and no longer does was restored from a backup', () => {
  const deletions = accepted();
  assert.equal(deletions.isUnderWay(aPod({ terminating: true }), 2_000), true);
  assert.equal(deletions.isUnderWay(aPod(), 3_000), false);
});

test('a complete state that was requested after the answer shows that nothing is under way, one from before does not', () => {
  assert.equal(accepted(999).isUnderWay(aPod(), 2_000), true);
  assert.equal(accepted(1_001).isUnderWay(aPod(), 2_000), false);
});

test('the sweep forgets what is completed, and what never took place', () => {
  const deletions = accepted(1_001);
  deletions.add(aPod({ name: 'b', uid: 'uid-b' }), 2_000);
  const step = deletions.sweep(
    (key) => (key === 'default/a' ? aPod() : undefined),
    () => 3_000,
  );
  assert.equal([...step].length, 2);
  assert.equal(deletions.count, 0);
});
