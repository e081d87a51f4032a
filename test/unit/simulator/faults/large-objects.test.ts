import assert from 'node:assert/strict';
import { test } from 'node:test';
import { planLargeObjects } from '../../../simulator/faults/large-objects.ts';
import { planRun } from '../../../simulator/run-plan.ts';
import { seedsBefore } from '../../../simulator/regression-seeds.ts';

const seeds = Array.from({ length: 400 }, (_, index) => index + 1);
const span = { fromMs: 30_000, untilMs: 210_000 };

function planOf(seed: number): ReturnType<typeof planLargeObjects> {
  return planLargeObjects(seed, planRun(seed).cluster, span);
}

test('one seed of twenty has large objects within the span, and no regression seed from before them', () => {
  const plans = seeds.map(planOf).filter((plan) => plan.length > 0);
  const share = plans.length / seeds.length;
  assert.ok(share > 0.02 && share < 0.09, `${share}`);
  for (const { atMs, forMs } of plans.flat()) assert.ok(atMs >= span.fromMs && atMs + forMs <= span.untilMs);
  for (const seed of seedsBefore(62_000_032)) assert.deepEqual(planOf(seed), [], `seed ${seed}`);
});
