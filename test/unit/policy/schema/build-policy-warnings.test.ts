import assert from 'node:assert/strict';
import { test } from 'node:test';
import { buildPolicyWarnings } from '../../../../src/policy/schema/build-policy-warnings.ts';
import type { NodePolicy } from '../../../../src/controller/model/policy.ts';
import { aPolicy } from '../../../support/builders.ts';

type Requirement = NodePolicy['selector'][number];

const isIn = (key: string, ...values: readonly string[]): Requirement => ({ key, operator: 'In', values });
const notIn = (key: string, ...values: readonly string[]): Requirement => ({ key, operator: 'NotIn', values });
const exists = (key: string): Requirement => ({ key, operator: 'Exists' });
const absent = (key: string): Requirement => ({ key, operator: 'DoesNotExist' });

test('a grace period below the duration of the lease of a kubelet is a warning', () => {
  const warnings = buildPolicyWarnings([
    aPolicy({ nodeMonitorGracePeriodMs: 39_999 }),
    aPolicy({ name: 'b', priority: 1, nodeMonitorGracePeriodMs: 40_000, nodeStartupGracePeriodMs: 1_000 }),
  ]);
  assert.equal(warnings.length, 1);
  assert.match(warnings[0] ?? '', /^policies\[0\]\.nodeMonitorGracePeriod \(policy zone-a\) is 39\.999s: /u);
});

const contradictions: readonly (readonly Requirement[])[] = [
  [isIn('a', 'x'), notIn('a', 'x')],
  [isIn('a', 'x', 'y'), notIn('a', 'x'), notIn('a', 'y')],
  [isIn('a', 'x'), isIn('a', 'y')],
  [exists('a'), absent('a')],
  [isIn('a', 'x'), absent('a')],
  [exists('b'), isIn('a', 'x'), isIn('a', 'y')],
];

const possible: readonly (readonly Requirement[])[] = [
  [isIn('a', 'x', 'y'), notIn('a', 'x')],
  [isIn('a', 'x', 'y'), isIn('a', 'y', 'z')],
  [exists('a'), notIn('a', 'x')],
  [absent('a'), notIn('a', 'x')],
  [absent('a'), exists('b')],
];

test('requirements that contradict each other match no node, which is a warning', () => {
  for (const selector of contradictions) {
    const [warning = '', ...others] = buildPolicyWarnings([aPolicy({ selector })]);
    assert.deepEqual(others, []);
    assert.match(warning, /^policies\[0\]\.nodeSelector \(policy zone-a\) matches no node/u, JSON.stringify(selector));
  }
  for (const selector of possible) assert.deepEqual(buildPolicyWarnings([aPolicy({ selector })]), []);
});

test('policies that can claim one node equally are a warning', () => {
  const pair = (a: readonly Requirement[], b: readonly Requirement[], priority = 0): readonly string[] =>
    buildPolicyWarnings([aPolicy({ selector: a }), aPolicy({ name: 'b', selector: b, priority })]);
  const [warning, ...others] = pair([exists('a')], [exists('b')]);
  assert.deepEqual(others, []);
  assert.match(
    warning ?? '',
    /^policies\[0\] \(zone-a\) and policies\[1\] \(b\) have equal priority 0 and equally many/u,
  );
  assert.equal(pair([isIn('a', 'x')], [isIn('a', 'x')]).length, 1);
  assert.deepEqual(pair([exists('a')], [exists('b')], 1), [], 'different priorities');
  assert.deepEqual(pair([exists('a')], [exists('b'), exists('c')]), [], 'different numbers of requirements');
  assert.deepEqual(pair([isIn('a', 'x')], [isIn('a', 'y')]), [], 'no node matches both');
});

test('a percent without a count is a warning: the limit of a few nodes is 0', () => {
  const withMax = (percent: number | undefined, count: number | undefined): readonly string[] =>
    buildPolicyWarnings([
      aPolicy({ limits: { maxUnhealthy: { percent, count }, cooldownMs: 1_000, resetAtMs: undefined } }),
    ]);
  assert.match(withMax(30, undefined)[0] ?? '', /fewer than 4 nodes the limit is 0, and one unhealthy node opens/u);
  assert.deepEqual(withMax(30, 1), []);
  assert.deepEqual(withMax(undefined, 1), []);
});

test('a budget with a percent only keeps none of a few nodes, which is a warning', () => {
  const withBudget = (percent: number | undefined, count: number | undefined): readonly string[] => {
    const rule = { recoveries: 3, withinMs: 1, initialMs: 1, maxMs: 1, budget: { percent, count } };
    return buildPolicyWarnings([aPolicy({ flapping: rule })]);
  };
  assert.match(withBudget(10, undefined)[0] ?? '', /flapping\.budget .* fewer than 10 nodes none of them is kept/u);
  assert.deepEqual([withBudget(10, 1), withBudget(undefined, 1), withBudget(100, undefined)], [[], [], []]);
});

test('what mode Detect does has no effect in another mode', () => {
  const detect = { markPods: true, evictAfterMs: undefined };
  assert.deepEqual(buildPolicyWarnings([aPolicy({ mode: 'Detect', detect })]), []);
  const [warning] = buildPolicyWarnings([aPolicy({ name: 'edge', mode: 'Enforce', detect })]);
  assert.equal(warning, 'policies[0].detect (policy edge) has no effect in mode Enforce: it is for mode Detect');
});

test('what a policy says of mode Detect has an effect where a window sets that mode', () => {
  const detect = { markPods: false, evictAfterMs: undefined };
  const schedule = { cron: '0 8 * * *', timeZone: 'UTC', durationMs: 3_600_000, set: { mode: 'Detect' as const } };
  assert.equal(buildPolicyWarnings([aPolicy({ detect })]).length, 1);
  assert.deepEqual(buildPolicyWarnings([aPolicy({ detect, schedules: [schedule] })]), []);
});
