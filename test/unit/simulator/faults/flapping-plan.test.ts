import assert from 'node:assert/strict';
import { test } from 'node:test';
import { planFlapping, recoveriesMin } from '../../../simulator/faults/flapping-plan.ts';
import { planRun } from '../../../simulator/run-plan.ts';
import { seedsBefore } from '../../../simulator/regression-seeds.ts';

const seeds = Array.from({ length: 400 }, (_, index) => index + 1);
const span = { fromMs: 30_000, untilMs: 210_000 };

function planOf(seed: number): ReturnType<typeof planFlapping> {
  return planFlapping(seed, planRun(seed).cluster, span);
}

test('one seed of twenty-five has flapping nodes, and no regression seed from before them', () => {
  const share = seeds.filter((seed) => planOf(seed).length > 0).length / seeds.length;
  assert.ok(share > 0.015 && share < 0.07, `${share}`);
  for (const seed of seedsBefore(31_415_153)) assert.deepEqual(planOf(seed), [], `seed ${seed}`);
});

test('nodes flap within the span, often enough, and the policy is in force to the end', () => {
  for (const seed of seeds) {
    const [settings, ...flaps] = planOf(seed);
    if (settings === undefined) continue;
    assert.ok(settings.atMs + settings.forMs > span.untilMs + 1_000_000, `seed ${seed}`);
    assert.ok(flaps.length >= recoveriesMin, `seed ${seed}`);
    for (const { atMs, forMs } of flaps) assert.ok(atMs >= span.fromMs && atMs + forMs < span.untilMs, `seed ${seed}`);
  }
});
