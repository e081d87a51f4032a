import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { PolicyObject } from '../../../../src/machinery/api/node-lifecycle-policy.ts';
import { readPolicyObject } from '../../../../src/policy/schema/policy-object-reader.ts';
import {
  decidePoliciesInForce,
  type PolicyAssessments,
  selectPoliciesInForce,
} from '../../../../src/policy/objects/decide-policies-in-force.ts';
import { aPolicyObject } from '../../../support/policy-objects.ts';

const nowMs = Date.parse('2026-11-24T12:00:00Z');
const decide = (objects: readonly PolicyObject[], before: PolicyAssessments = new Map()): PolicyAssessments =>
  decidePoliciesInForce(objects, before, readPolicyObject, nowMs);

const invalid = { mode: 'On' };

function inForceOf(assessments: PolicyAssessments, name: string): readonly unknown[] {
  const { reason, inForce } = assessments.get(name) ?? {};
  return [reason, inForce?.policy.mode, inForce?.generation];
}

test('a valid object is in force; an invalid one that this process never saw valid pauses the nodes that it selects', () => {
  const assessments = decide([aPolicyObject('a', { mode: 'Paused' }), aPolicyObject('b', invalid)]);
  assert.deepEqual(inForceOf(assessments, 'a'), ['Valid', 'Paused', 1]);
  assert.deepEqual(inForceOf(assessments, 'b'), ['Invalid', 'Paused', 'paused']);
  assert.deepEqual(assessments.get('b')?.problems, [
    'spec.mode: must be one of Enforce, Detect, Observe, Paused (got "On")',
  ]);
  assert.deepEqual(
    selectPoliciesInForce(assessments).map(({ name }) => name),
    ['a', 'b'],
  );
});

test('an object that became invalid keeps its last valid version, through any number of invalid ones', () => {
  let assessments = decide([aPolicyObject('a', { mode: 'Paused' }, { generation: 4 })]);
  for (const generation of [5, 6, 7]) assessments = decide([aPolicyObject('a', invalid, { generation })], assessments);
  assert.deepEqual(inForceOf(assessments, 'a'), ['Invalid', 'Paused', 4]);
  assessments = decide([aPolicyObject('a', { mode: 'Observe' }, { generation: 8 })], assessments);
  assert.deepEqual(inForceOf(assessments, 'a'), ['Valid', 'Observe', 8]);
});

test('an invalid object that replaces one of its name keeps the version in force, through any number of replacements', () => {
  let assessments = decide([aPolicyObject('a', { mode: 'Paused' }, { generation: 4 })]);
  for (const uid of ['second', 'third']) assessments = decide([aPolicyObject('a', invalid, { uid })], assessments);
  assert.deepEqual(inForceOf(assessments, 'a'), ['Invalid', 'Paused', 4]);
  assessments = decide([aPolicyObject('a', { mode: 'Observe' }, { uid: 'fourth' })], assessments);
  assert.deepEqual(inForceOf(assessments, 'a'), ['Valid', 'Observe', 1]);
});

test('a guard selects what its object selects, holds as its mode says, and is replaced by any valid version only', () => {
  const ofPool = { nodeSelector: { matchLabels: { pool: 'a' } }, mode: 'On', priority: 7 };
  const first = decide([aPolicyObject('a', ofPool)]);
  const guard = first.get('a')?.inForce?.policy;
  assert.deepEqual(
    [guard?.isGuard, guard?.mode, guard?.selector.length, guard?.limits],
    [true, 'Paused', 1, undefined],
  );
  const observing = { ...ofPool, mode: 'Observe', priority: 'high' };
  const second = decide([aPolicyObject('a', observing, { generation: 2 })], first);
  assert.equal(second.get('a')?.inForce?.policy.mode, 'Observe');
  const unreadable = decide([aPolicyObject('a', { nodeSelector: 'x' }, { generation: 3 })], second);
  assert.deepEqual(inForceOf(unreadable, 'a'), ['Invalid', 'Observe', 'paused'], 'a second error ends no protection');
  const valid = decide([aPolicyObject('a', { ...ofPool, mode: 'Enforce' }, { generation: 4 })], unreadable);
  assert.deepEqual(inForceOf(valid, 'a'), ['Valid', 'Enforce', 4]);
  const ofNothing = decide([aPolicyObject('a', { nodeSelector: {}, mode: 'On' })]);
  assert.deepEqual(inForceOf(ofNothing, 'a'), ['Invalid', undefined, undefined]);
});

test('an invalid object inherits nothing from one of its name whose deletion has taken effect', () => {
  const before = decide([], decide([aPolicyObject('a', { mode: 'Paused' })]));
  const after = decide([aPolicyObject('a', invalid, { uid: 'another' })], before);
  assert.deepEqual(inForceOf(after, 'a'), ['Invalid', 'Paused', 'paused']);
});

test('a deleted object is in force no longer', () => {
  assert.deepEqual(selectPoliciesInForce(decide([], decide([aPolicyObject('a')]))), []);
});

test('the annotation resets the breaker of the version in force, also of an older one', () => {
  const limits = { maxUnhealthy: { count: 1 } };
  const reset = '2026-11-24T11:00:00Z';
  const before = decide([aPolicyObject('a', { limits })]);
  for (const spec of [{ limits }, { limits, ...invalid }]) {
    const after = decide([aPolicyObject('a', spec, { generation: 2, reset })], before);
    assert.equal(selectPoliciesInForce(after)[0]?.limits?.resetAtMs, Date.parse(reset));
  }
  const without = decide([aPolicyObject('a', { limits })], decide([aPolicyObject('a', { limits }, { reset })], before));
  assert.equal(selectPoliciesInForce(without)[0]?.limits?.resetAtMs, undefined);
});

test('a policy that did not change stays the same value', () => {
  const before = decide([aPolicyObject('a'), aPolicyObject('b')]);
  const after = decide(
    [aPolicyObject('a', {}, { resourceVersion: '99' }), aPolicyObject('b', { priority: 1 })],
    before,
  );
  const [a, b] = ['a', 'b'].map((name) => [before.get(name)?.inForce?.policy, after.get(name)?.inForce?.policy]);
  assert.equal(a?.[0], a?.[1]);
  assert.notDeepEqual(b?.[0], b?.[1]);
});

test('of more than 100 objects the 100 oldest are in force, valid or not, whatever their order', () => {
  const objects = Array.from({ length: 102 }, (_, place) => {
    const createdAt = `2026-11-24T00:${String(Math.floor(place / 60)).padStart(2, '0')}:${String(place % 60).padStart(2, '0')}Z`;
    return aPolicyObject(`p${place}`, {}, { createdAt });
  });
  const assessments = decide(objects.toReversed());
  assert.equal(selectPoliciesInForce(assessments).length, 100);
  for (const name of ['p100', 'p101']) {
    assert.deepEqual(inForceOf(assessments, name), ['TooManyPolicies', undefined, undefined]);
    assert.match(assessments.get(name)?.problems[0] ?? '', /only the 100 oldest/u);
  }
});

test('a new object of the same second ends no policy that is in force', () => {
  const createdAt = '2026-01-01T00:00:00Z';
  const full = Array.from({ length: 100 }, (_, place) => {
    return aPolicyObject(`m${place}`, { mode: 'Paused' }, { createdAt, uid: `u${place}` });
  });
  const before = decide(full);
  const after = decide([aPolicyObject('a', {}, { createdAt, uid: 'new' }), ...full], before);
  assert.equal(after.get('a')?.reason, 'TooManyPolicies');
  assert.ok(full.every(({ name }) => after.get(name)?.inForce !== undefined));
});
