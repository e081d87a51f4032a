import assert from 'node:assert/strict';
import { test } from 'node:test';
import { planMeetings } from '../../../simulator/faults/meeting-plan.ts';
import { planRun } from '../../../simulator/run-plan.ts';
import { seedsBefore } from '../../../simulator/regression-seeds.ts';

const seeds = Array.from({ length: 400 }, (_, index) => index + 1);
const span = { fromMs: 30_000, untilMs: 210_000 };

function planOf(seed: number): ReturnType<typeof planMeetings> {
  return planMeetings(seed, planRun(seed).cluster, span);
}

test('one seed of seven has policies with several features, and no regression seed from before them', () => {
  const share = seeds.filter((seed) => planOf(seed).length > 0).length / seeds.length;
  assert.ok(share > 0.1 && share < 0.19, `${share}`);
  for (const seed of seedsBefore(62_000_032)) assert.deepEqual(planOf(seed), []);
});

test('all begin and end within the span', () => {
  for (const { atMs, forMs, fault } of seeds.flatMap(planOf)) {
    assert.ok(atMs >= span.fromMs && forMs >= 0, `${fault.kind} at ${atMs} for ${forMs} ms`);
    assert.ok(atMs + forMs <= span.untilMs + 2_000, `${fault.kind} at ${atMs} for ${forMs} ms`);
  }
});

test('several policies are in force at once, with several features of one policy', () => {
  const settings = seeds.flatMap(planOf).flatMap(({ fault }) => (fault.kind === 'settings' ? [fault.change] : []));
  const all = settings.flatMap(({ policies = [] }) => policies);
  assert.ok(settings.every(({ policies = [] }) => policies.length >= 2));
  assert.ok(all.some(({ limits, maintenance, evictReachable }) => limits && maintenance && evictReachable));
  assert.ok(new Set(all.map(({ nodeMonitorGracePeriodMs }) => nodeMonitorGracePeriodMs)).size > 4);
});

test('every kind of act is drawn', () => {
  const kinds = new Set(seeds.flatMap(planOf).map(({ fault }) => fault.kind));
  for (const kind of [
    'budget',
    'annotation',
    'toleration',
    'health-key',
    'finalizer',
    'webhook',
    'maintenance',
    'fencing',
  ])
    assert.ok(
      [...kinds].some((drawn) => drawn === kind),
      kind,
    );
});
