import assert from 'node:assert/strict';
import { test } from 'node:test';
import { planPolicyFeatures } from '../../../simulator/faults/policy-feature-plan.ts';
import type { PlannedFault } from '../../../simulator/faults/world-fault.ts';
import { planRun } from '../../../simulator/run-plan.ts';
import { regressionSeeds } from '../../../simulator/regression-seeds.ts';

const seeds = Array.from({ length: 600 }, (_, index) => index + 1);
const span = { fromMs: 30_000, untilMs: 90_000 };
const features = ['maintenance', 'zones', 'outOfService'] as const;

function planOf(seed: number, silent = 0): readonly PlannedFault[] {
  return planPolicyFeatures(seed, planRun(seed).cluster, span, silent);
}

function featureOf(plan: readonly PlannedFault[]): string | undefined {
  const policies = plan.flatMap(({ fault }) => (fault.kind === 'settings' ? (fault.change.policies ?? []) : []));
  return features.find((feature) => policies.some((policy) => policy[feature] !== undefined));
}

test('one seed of twenty has each feature, and no seed of which a document says what it finds', () => {
  for (const feature of features) {
    const share = seeds.filter((seed) => featureOf(planOf(seed)) === feature).length / seeds.length;
    assert.ok(share > 0.02 && share < 0.08, `${feature}: ${share}`);
  }
  for (const { seed } of regressionSeeds.filter(({ seed }) => seed < 71_000_000))
    assert.deepEqual(planOf(seed), [], `seed ${seed}`);
});

test('zones of a policy have one level or two', () => {
  const drawn = seeds
    .flatMap((seed) => planOf(seed))
    .flatMap(({ fault }) => {
      return fault.kind === 'settings' ? (fault.change.policies ?? []).flatMap(({ zones }) => zones ?? []) : [];
    });
  const two = drawn.filter(({ outerFailureDomain }) => outerFailureDomain !== undefined);
  assert.ok(two.length > 0 && two.length < drawn.length);
  for (const { failureDomain = [], outerFailureDomain = [] } of two)
    assert.ok(failureDomain.length > 0 && !failureDomain.some((key) => outerFailureDomain.includes(key)));
});

test('a policy, or the signal of a maintenance, may stay until the drill; all else ends with the span', () => {
  const isKept = ({ atMs, forMs }: PlannedFault): boolean => atMs + forMs > span.untilMs;
  const kept = seeds.map((seed) => planOf(seed)).filter((plan) => plan.some(isKept));
  assert.ok(kept.length > 0);
  for (const plan of kept)
    assert.ok(plan.filter(isKept).every(({ fault }) => fault.kind === 'settings' || fault.kind === 'maintenance'));
  for (const seed of seeds.filter((seed) => featureOf(planOf(seed, 3)) === 'zones'))
    assert.ok(!planOf(seed, 3).some(isKept), `seed ${seed}`);
});

test('they are about nodes of the cluster', () => {
  for (const seed of seeds) {
    const names = new Set(planRun(seed).cluster.nodes.map(({ name }) => name));
    for (const { fault, atMs } of planOf(seed)) {
      assert.ok(atMs >= span.fromMs, `seed ${seed}`);
      if ('node' in fault) assert.ok(names.has(fault.node), `seed ${seed}: ${fault.node}`);
    }
  }
});
