import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readPolicyObject } from '../../../../src/policy/schema/policy-object-reader.ts';
import type { NodePolicy } from '../../../../src/controller/model/policy.ts';
import { decideReset, withReset } from '../../../../src/policy/objects/decide-policies-in-force.ts';
import { aPolicyObject } from '../../../support/policy-objects.ts';

const nowMs = Date.parse('2026-11-24T12:00:00Z');

function policyOf(limits: object | undefined): NodePolicy {
  const { name, spec } = aPolicyObject('a', limits === undefined ? {} : { limits });
  const read = readPolicyObject({ metadata: { name }, spec });
  assert.ok('policy' in read);
  return read.policy;
}

const limited = (resetAt?: string): NodePolicy =>
  policyOf({ maxUnhealthy: { count: 1 }, ...(resetAt === undefined ? {} : { resetAt }) });
const at = (time: string): number => Date.parse(`2026-11-24T${time}Z`);

for (const [title, field, annotation, expected] of [
  ['neither', undefined, undefined, [undefined, Infinity]],
  ['the field alone', '11:00:00', undefined, [at('11:00:00'), Infinity]],
  ['an empty annotation is none', '11:00:00', '', [at('11:00:00'), Infinity]],
  ['the annotation alone', undefined, '11:30:00', [at('11:30:00'), Infinity]],
  ['this moment', undefined, '12:00:00', [nowMs, Infinity]],
  ['the annotation is later', '11:00:00', '11:30:00', [at('11:30:00'), Infinity]],
  ['the field is later', '11:30:00', '11:00:00', [at('11:30:00'), Infinity]],
  ['a field in the future postpones nothing', '13:00:00', '11:00:00', [at('11:00:00'), at('13:00:00')]],
] as const)
  test(`the reset in force: ${title}`, () => {
    const value = annotation === undefined || annotation === '' ? annotation : `2026-11-24T${annotation}Z`;
    const policy = limited(field === undefined ? undefined : `2026-11-24T${field}Z`);
    const { resetAtMs, changesAtMs, problem } = decideReset(value, policy, nowMs);
    assert.deepEqual([resetAtMs, changesAtMs, problem], [...expected, undefined]);
  });

const accepted = 'an RFC 3339 time that is not in the future, such as 2026-11-23T18:00:00Z';

for (const value of ['now', 'true', '2026-11-24', '2026-11-24T11:00:00', '2026-11-24T25:00:00Z'])
  test(`${value} is a problem, and the field stays in force`, () => {
    const { resetAtMs, changesAtMs, problem } = decideReset(value, limited('2026-11-24T11:00:00Z'), nowMs);
    assert.deepEqual([resetAtMs, changesAtMs], [at('11:00:00'), Infinity]);
    assert.equal(problem, `metadata.annotations[nodelifecycle/reset-breaker]: must be ${accepted} (got "${value}")`);
  });

test('a time in the future is a problem until it comes', () => {
  const decision = decideReset('2026-11-24T12:00:00.001Z', limited(), nowMs);
  assert.match(decision.problem ?? '', /not in the future/u);
  assert.deepEqual([decision.resetAtMs, decision.changesAtMs], [undefined, nowMs + 1]);
  assert.equal(decideReset('2026-11-24T12:00:00.001Z', limited(), nowMs + 1).problem, undefined);
});

test('without a breaker it resets nothing, and says so', () => {
  for (const policy of [policyOf(undefined), policyOf({ maxConcurrentEvictions: 1 })]) {
    const decision = decideReset('2026-11-24T11:00:00Z', policy, nowMs);
    assert.match(
      decision.problem ?? '',
      /must be absent without spec\.limits\.maxUnhealthy \(got "2026-11-24T11:00:00Z"\)/u,
    );
    assert.equal(withReset(policy, decision), policy);
  }
});

test('a long value is cut in the problem', () => {
  const { problem = '' } = decideReset('\u{1f600}'.repeat(100_000), limited(), nowMs);
  assert.ok(problem.length < 300);
  assert.equal(Buffer.from(problem).toString(), problem);
});

test('the policy has the reset in force, and is the same value where the annotation changes nothing', () => {
  const policy = limited('2026-11-24T11:00:00Z');
  assert.equal(withReset(policy, decideReset('2026-11-24T10:00:00Z', policy, nowMs)), policy);
  const reset = withReset(policy, decideReset('2026-11-24T11:30:00Z', policy, nowMs));
  assert.equal(reset.limits?.resetAtMs, at('11:30:00'));
  assert.equal(policy.limits?.resetAtMs, at('11:00:00'));
});
