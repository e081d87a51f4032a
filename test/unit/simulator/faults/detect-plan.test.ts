import assert from 'node:assert/strict';
import { test } from 'node:test';
import { planDetect } from '../../../simulator/faults/detect-plan.ts';
import { planRun } from '../../../simulator/run-plan.ts';
import { seedsBefore } from '../../../simulator/regression-seeds.ts';

const seeds = Array.from({ length: 400 }, (_, index) => index + 1);
const span = { fromMs: 30_000, untilMs: 210_000 };

function planOf(seed: number): ReturnType<typeof planDetect> {
  return planDetect(seed, planRun(seed).cluster, span);
}

test('one seed of seventeen has mode Detect or pods that ask to be kept, and no regression seed from before them', () => {
  const plain = seeds.filter((seed) => planRun(seed).cluster.namespaceAutonomy !== true);
  const share = plain.filter((seed) => planOf(seed).length > 0).length / plain.length;
  assert.ok(share > 0.03 && share < 0.09, `${share}`);
  for (const seed of seedsBefore(120_000_649)) assert.deepEqual(planOf(seed), [], `seed ${seed}`);
});

test('all begin and end within the span, and every kind of policy is drawn', () => {
  const kinds = new Set<string>();
  for (const { atMs, forMs, fault } of seeds.flatMap(planOf)) {
    assert.ok(atMs >= span.fromMs && atMs + forMs <= span.untilMs, `${atMs} ${forMs}`);
    if (fault.kind !== 'settings') continue;
    const [policy] = fault.change.policies ?? [];
    const { detect, podAutonomy } = policy ?? {};
    kinds.add(policy?.mode ?? '');
    if (detect?.markPods === false) kinds.add('keeps pods Ready');
    if (detect?.evictAfterMs !== undefined) kinds.add('ends');
    if (podAutonomy !== undefined) kinds.add('lets pods ask');
  }
  assert.deepEqual([...kinds].toSorted(), ['Detect', 'Enforce', 'ends', 'keeps pods Ready', 'lets pods ask']);
});

test('where labels of namespaces count each seed has them', () => {
  const others = seeds.filter((seed) => planRun(seed).cluster.namespaceAutonomy === true);
  assert.ok(others.length > 0);
  for (const seed of others)
    assert.equal(
      planOf(seed).some(({ fault }) => fault.kind === 'namespace-autonomy'),
      true,
      `seed ${seed}`,
    );
});
