import assert from 'node:assert/strict';
import { test } from 'node:test';
import { planEvictions, planPolicies } from '../../../simulator/faults/policy-plan.ts';
import { planRun } from '../../../simulator/run-plan.ts';
import { regressionSeeds } from '../../../simulator/regression-seeds.ts';

const seeds = Array.from({ length: 400 }, (_, index) => index + 1);
const span = { fromMs: 30_000, untilMs: 90_000 };

function policiesOf(seed: number): ReturnType<typeof planPolicies> {
  return planPolicies(seed, planRun(seed).cluster, span);
}

function hasLimits(seed: number): boolean {
  return policiesOf(seed).some(
    ({ fault }) => fault.kind === 'settings' && fault.change.policies?.some(({ limits }) => limits !== undefined),
  );
}

function limitsEvictions(seed: number): boolean {
  const keys = ['evictReachable', 'podDeletionsPerSecond', 'maxConcurrentEvictions'] as const;
  return planEvictions(seed, planRun(seed).cluster, span).some(({ fault }) => {
    const policies = fault.kind === 'settings' ? (fault.change.policies ?? []) : [];
    return policies.some((policy) => keys.some((key) => policy[key] !== undefined));
  });
}

test('one seed of ten has policies, one of twenty limits, some limits of evictions, and no regression seed from before them', () => {
  const share = seeds.filter((seed) => policiesOf(seed).length > 0 && !hasLimits(seed)).length / seeds.length;
  assert.ok(share > 0.06 && share < 0.14, `${share}`);
  const limited = seeds.filter(hasLimits).length / seeds.length;
  assert.ok(limited > 0.02 && limited < 0.08, `${limited}`);
  const evictions = seeds.filter(limitsEvictions).length / seeds.length;
  assert.ok(evictions > 0.01 && evictions < 0.08, `${evictions}`);
  for (const { seed } of regressionSeeds.filter(({ seed }) => seed < 60_000_000))
    assert.ok(!limitsEvictions(seed), `seed ${seed}`);
  for (const { seed } of regressionSeeds.filter(({ seed }) => seed < 50_000_000))
    assert.ok(!hasLimits(seed), `seed ${seed}`);
  for (const { seed } of regressionSeeds.filter(({ seed }) => seed < 30_000_000))
    assert.deepEqual(policiesOf(seed), [], `seed ${seed}`);
});

test('they begin and end within the span, and select nodes of the cluster', () => {
  for (const seed of seeds) {
    const names = new Set(planRun(seed).cluster.nodes.map(({ name }) => name));
    for (const { atMs, forMs, fault } of policiesOf(seed)) {
      assert.ok(atMs >= span.fromMs && atMs + forMs <= span.untilMs, `seed ${seed}`);
      assert.ok(fault.kind === 'settings');
      const selected = fault.change.policies?.flatMap(({ selector }) => selector.flatMap(({ values }) => values ?? []));
      assert.ok(
        selected?.every((name) => names.has(name)),
        `seed ${seed}`,
      );
    }
  }
});
