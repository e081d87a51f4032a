import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { JsonMap } from '../../../../src/machinery/api/json-map.ts';
import { readPolicyObject } from '../../../../src/policy/schema/policy-object-reader.ts';
import type { BreakerStatus, PolicyFigures } from '../../../../src/controller/model/policy.ts';
import { buildPolicyStatus } from '../../../../src/policy/objects/build-policy-status.ts';
import {
  decidePoliciesInForce,
  type PolicyAssessment,
} from '../../../../src/policy/objects/decide-policies-in-force.ts';
import { aPolicyObject } from '../../../support/policy-objects.ts';

const nowMs = Date.parse('2026-11-24T12:00:00Z');
const figures: PolicyFigures = {
  policy: 'a',
  mode: 'Enforce',
  nodes: 8,
  conflicts: 0,
  unhealthy: 4,
  held: 3,
  pendingEvictions: 7,
};
const breaker: BreakerStatus = {
  policy: 'a',
  nodes: 8,
  unhealthy: 4,
  exempt: 0,
  limit: 3,
  maxUnhealthy: { percent: 40, count: undefined },
  cooldownMs: 300_000,
  openedAtMs: 1,
  untilMs: Infinity,
};

function assessmentOf(...versions: readonly object[]): PolicyAssessment {
  return annotatedAssessment(undefined, ...versions);
}

/** With a value of the annotation that resets the breaker. */
function annotatedAssessment(reset: string | undefined, ...versions: readonly object[]): PolicyAssessment {
  let assessments: ReadonlyMap<string, PolicyAssessment> = new Map();
  for (const [place, spec] of versions.entries())
    assessments = decidePoliciesInForce(
      [aPolicyObject('a', { ...spec }, { generation: place + 1, ...(reset === undefined ? {} : { reset }) })],
      assessments,
      readPolicyObject,
      nowMs,
    );
  const assessment = assessments.get('a');
  assert.ok(assessment);
  return assessment;
}

/** Type, status and reason of each condition. */
function conditionsOf(status: JsonMap): readonly string[] {
  const conditions = status['conditions'] as readonly Readonly<Record<string, string>>[];
  return conditions.map(({ type, status: value, reason }) => `${type} ${value} ${reason}`);
}

function messageOf(status: JsonMap, type: string): string {
  const conditions = status['conditions'] as readonly Readonly<Record<string, string>>[];
  return conditions.find((condition) => condition['type'] === type)?.['message'] ?? '';
}

test('a valid policy: what is in force, the counts, and two conditions', () => {
  const status = buildPolicyStatus(
    assessmentOf({ mode: 'Observe', priority: 7 }),
    { ...figures, mode: 'Observe' },
    {},
    nowMs,
  );
  const { conditions: _conditions, ...rest } = status;
  assert.deepEqual(rest, {
    observedGeneration: 1,
    mode: 'Observe',
    priority: 7,
    nodes: 8,
    unhealthyNodes: 4,
    heldNodes: 3,
    pendingEvictions: 7,
  });
  assert.deepEqual(conditionsOf(status), ['Accepted True Valid', 'Degraded False AsExpected']);
});

test('an open breaker and a conflict are Degraded, and the message has the numbers', () => {
  const open = buildPolicyStatus(assessmentOf({}), { ...figures, conflicts: 2, breaker }, {}, nowMs);
  assert.deepEqual([open['breaker'], conditionsOf(open)[1]], ['Open', 'Degraded True BreakerOpen']);
  assert.equal(
    messageOf(open, 'Degraded'),
    'the breaker is open: 4 of 8 nodes unhealthy, limit 3; 2 nodes are claimed equally by another policy, so neither applies to them',
  );
  const closed = buildPolicyStatus(
    assessmentOf({}),
    { ...figures, breaker: { ...breaker, untilMs: undefined } },
    {},
    nowMs,
  );
  assert.deepEqual([closed['breaker'], conditionsOf(closed)[1]], ['Closed', 'Degraded False AsExpected']);
  const conflict = buildPolicyStatus(assessmentOf({}), { ...figures, conflicts: 2 }, {}, nowMs);
  assert.equal(conditionsOf(conflict)[1], 'Degraded True Conflict');
});

test('an annotation that resets no breaker is Degraded, after an open breaker', () => {
  const limits = { maxUnhealthy: { count: 1 } };
  const tomorrow = annotatedAssessment('2026-11-25T12:00:00Z', { limits });
  const closed = buildPolicyStatus(tomorrow, figures, {}, nowMs);
  assert.deepEqual(conditionsOf(closed), ['Accepted True Valid', 'Degraded True InvalidResetAnnotation']);
  const problem =
    'metadata.annotations[nodelifecycle/reset-breaker]: must be an RFC 3339 time that is not in the future, such as ' +
    '2026-11-23T18:00:00Z (got "2026-11-25T12:00:00Z"); it resets no breaker';
  assert.equal(messageOf(closed, 'Degraded'), problem);
  const open = buildPolicyStatus(tomorrow, { ...figures, breaker }, {}, nowMs);
  assert.equal(conditionsOf(open)[1], 'Degraded True BreakerOpen');
  assert.equal(messageOf(open, 'Degraded'), `the breaker is open: 4 of 8 nodes unhealthy, limit 3; ${problem}`);
  const past = buildPolicyStatus(annotatedAssessment('2026-11-24T11:00:00Z', { limits }), figures, {}, nowMs);
  assert.equal(conditionsOf(past)[1], 'Degraded False AsExpected');
});

test('an invalid version: the problems, and which version stays in force', () => {
  const never = buildPolicyStatus(assessmentOf({ mode: 'On' }), undefined, {}, nowMs);
  assert.deepEqual(
    [never['mode'], never['nodes'], never['observedGeneration'], conditionsOf(never)[0]],
    ['Paused', undefined, 1, 'Accepted False Invalid'],
  );
  assert.equal(
    messageOf(never, 'Accepted'),
    'spec.mode: must be one of Enforce, Detect, Observe, Paused (got "On"); the nodes that it selects are paused until it is valid',
  );
  const later = buildPolicyStatus(
    assessmentOf({ mode: 'Paused' }, { mode: 'On' }),
    { ...figures, mode: 'Paused' },
    {},
    nowMs,
  );
  assert.deepEqual([later['mode'], later['observedGeneration']], ['Paused', 2]);
  assert.match(messageOf(later, 'Accepted'), /generation 1 of the spec stays in force, not generation 2$/u);
});

test('an invalid object that replaces another: the version that stays in force is not one of its own', () => {
  const object = aPolicyObject('a', { mode: 'On' }, { uid: 'another' });
  const before = new Map([['a', assessmentOf({}, { mode: 'Paused' })]]);
  const assessment = decidePoliciesInForce([object], before, readPolicyObject, nowMs).get('a');
  assert.ok(assessment);
  const status = buildPolicyStatus(assessment, figures, {}, nowMs);
  assert.match(
    messageOf(status, 'Accepted'),
    /; generation 2 of the object that it replaces stays in force, not generation 1$/u,
  );
});

test('the transition time changes with the status of a condition only', () => {
  const first = buildPolicyStatus(assessmentOf({}), figures, {}, nowMs);
  const later = buildPolicyStatus(assessmentOf({}, { priority: 1 }), { ...figures, breaker }, first, nowMs + 60_000);
  const times = (later['conditions'] as readonly JsonMap[]).map(({ lastTransitionTime }) => lastTransitionTime);
  assert.deepEqual(times, ['2026-11-24T12:00:00Z', '2026-11-24T12:01:00Z']);
});

test('before its nodes are counted the counts stay as they are, and there are none of a new object', () => {
  const counted = buildPolicyStatus(assessmentOf({}), { ...figures, breaker }, {}, nowMs);
  const paused = buildPolicyStatus(assessmentOf({}, { mode: 'Paused' }), undefined, counted, nowMs);
  assert.deepEqual(
    [paused['mode'], paused['nodes'], paused['breaker'], conditionsOf(paused)],
    ['Paused', 8, 'Open', ['Accepted True Valid', 'Degraded True BreakerOpen']],
  );
  const created = buildPolicyStatus(assessmentOf({}), undefined, {}, nowMs);
  assert.deepEqual([created['nodes'], conditionsOf(created)], [undefined, ['Accepted True Valid']]);
});

test('a malformed status on the API server is replaced', () => {
  const current = { conditions: [7, { type: 'Accepted', status: 'True', lastTransitionTime: 5 }], nodes: 'x' };
  const status = buildPolicyStatus(assessmentOf({}), figures, current, nowMs);
  assert.deepEqual(status, buildPolicyStatus(assessmentOf({}), figures, {}, nowMs));
});

test('a long message is cut between characters: the API server stores it as it was written', () => {
  for (const mode of ['\u{1f600}'.repeat(900), `x${'\u{1f600}'.repeat(900)}`]) {
    const problems = [`spec.mode: must be one of Enforce (got "${mode}")`];
    const assessment: PolicyAssessment = { ...assessmentOf({ mode }), problems };
    const message = messageOf(buildPolicyStatus(assessment, undefined, {}, nowMs), 'Accepted');
    assert.equal(Buffer.from(message).toString(), message);
  }
});

test('the mode is the one that is in force: a window of a schedule may have set another one than the spec', () => {
  const status = buildPolicyStatus(assessmentOf({ mode: 'Enforce' }), { ...figures, mode: 'Detect' }, {}, nowMs);
  assert.equal(status['mode'], 'Detect');
});
