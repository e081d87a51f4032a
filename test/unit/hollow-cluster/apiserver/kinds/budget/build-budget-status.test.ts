import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  buildBudgetStatus,
  spendDisruption,
} from '../../../../../../src/hollow-cluster/apiserver/kinds/budget/build-budget-status.ts';

const nowMs = Date.parse('2026-01-01T00:10:00Z');
const pod = (name: string, isReady = true, isDeleted = false) => ({ name, isReady, isDeleted });
const pods = [pod('a'), pod('b'), pod('c', false), pod('d', true, true)];

interface Case {
  readonly spec?: object;
  readonly status?: object;
  readonly scale?: number | { readonly error: string };
  readonly pods?: typeof pods;
}

function statusOf({ spec = {}, status = {}, scale = 4, pods: given = pods }: Case): Record<string, unknown> {
  return buildBudgetStatus({ budget: { metadata: { generation: 3 }, spec, status }, pods: given, scale, nowMs });
}

function counts(input: Case): readonly unknown[] {
  const { currentHealthy, desiredHealthy, disruptionsAllowed, expectedPods } = statusOf(input);
  return [currentHealthy, desiredHealthy, disruptionsAllowed, expectedPods];
}

test('minAvailable as a number counts the matching pods, as a share the replicas', () => {
  assert.deepEqual(counts({ spec: { minAvailable: 1 } }), [2, 1, 1, 4]);
  assert.deepEqual(counts({ spec: { minAvailable: 3 } }), [2, 3, 0, 4]);
  assert.deepEqual(counts({ spec: { minAvailable: '30%' }, scale: 5 }), [2, 2, 0, 5]);
});

test('a budget with neither minAvailable nor maxUnavailable allows nothing', () => {
  assert.deepEqual(counts({ spec: {} }), [2, 0, 0, 0]);
  assert.partialDeepStrictEqual(statusOf({})['conditions'], [{ status: 'False', reason: 'InsufficientPods' }]);
});

test('maxUnavailable counts from the replicas', () => {
  assert.deepEqual(counts({ spec: { maxUnavailable: 3 }, scale: 4 }), [2, 1, 1, 4]);
  assert.deepEqual(counts({ spec: { maxUnavailable: 9 }, scale: 4 }), [2, 0, 2, 4]);
  assert.deepEqual(counts({ spec: { maxUnavailable: '25%' }, scale: 4 }), [2, 3, 0, 4]);
});

test('a budget without pods allows nothing: its first pods may appear unnoticed', () => {
  assert.deepEqual(counts({ spec: { minAvailable: 0 }, pods: [] }), [0, 0, 0, 0]);
});

test('an evicted pod is not available for two minutes', () => {
  const disruptedPods = { a: '2026-01-01T00:09:00Z', b: '2026-01-01T00:07:59Z', gone: '2026-01-01T00:09:59Z' };
  const status = statusOf({ spec: { minAvailable: 0 }, status: { disruptedPods } });
  assert.deepEqual(status['disruptedPods'], { a: '2026-01-01T00:09:00Z' });
  assert.equal(status['currentHealthy'], 1);
});

test('the condition says whether disruptions are allowed, and its time is that of the last transition', () => {
  const first = statusOf({ spec: { minAvailable: 1 } });
  assert.deepEqual(first['conditions'], [
    {
      type: 'DisruptionAllowed',
      observedGeneration: 3,
      lastTransitionTime: '2026-01-01T00:10:00Z',
      status: 'True',
      reason: 'SufficientPods',
      message: '',
    },
  ]);
  const kept = [{ type: 'Other' }, { type: 'DisruptionAllowed', status: 'True', lastTransitionTime: 'then' }];
  const later = statusOf({ spec: { minAvailable: 1 }, status: { conditions: kept } });
  assert.partialDeepStrictEqual(later['conditions'], [{ type: 'Other' }, { lastTransitionTime: 'then' }]);
  const changed = statusOf({ spec: { minAvailable: 2 }, status: { conditions: kept } });
  assert.partialDeepStrictEqual(changed['conditions'], [
    { type: 'Other' },
    { status: 'False', reason: 'InsufficientPods', lastTransitionTime: '2026-01-01T00:10:00Z' },
  ]);
});

test('an unknown number of replicas allows nothing', () => {
  const status = statusOf({
    spec: { maxUnavailable: 1 },
    status: { disruptionsAllowed: 2 },
    scale: { error: 'no scale' },
  });
  assert.equal(status['disruptionsAllowed'], 0);
  assert.partialDeepStrictEqual(status['conditions'], [{ status: 'False', reason: 'SyncFailed', message: 'no scale' }]);
});

test('an eviction takes one disruption', () => {
  const budget = { metadata: {}, status: { disruptionsAllowed: 2, disruptedPods: { x: 'then' } } };
  assert.deepEqual(spendDisruption(budget, 'a', nowMs), {
    disruptionsAllowed: 1,
    disruptedPods: { x: 'then', a: '2026-01-01T00:10:00Z' },
  });
  const last = spendDisruption({ metadata: {}, status: { disruptionsAllowed: 1 } }, 'a', nowMs);
  assert.partialDeepStrictEqual(last, { disruptionsAllowed: 0, conditions: [{ reason: 'InsufficientPods' }] });
});
