import assert from 'node:assert/strict';
import { test } from 'node:test';
import { describePolicy } from '../../../../src/policy/schema/describe-policy.ts';
import { readFileSettings } from '../../../../src/policy/schema/file-settings.ts';

function read(flapping: unknown): ReturnType<typeof readFileSettings> {
  return readFileSettings({ policies: [{ name: 'edge', nodeSelector: { matchLabels: { pool: 'edge' } }, flapping }] });
}

const duration = 'a duration > 0 with a unit, such as 1m30s or 500ms';
const valid = { recoveries: 3, within: '1h' };

/** The malformed rule, its field, and the problem. */
const malformed: readonly (readonly [unknown, string, string])[] = [
  [true, '', 'must be a mapping (got true)'],
  [{ within: '1h' }, '.recoveries', 'must be an integer from 2 to 100 (missing)'],
  [{ ...valid, recoveries: 1 }, '.recoveries', 'must be an integer from 2 to 100 (got 1)'],
  [{ ...valid, recoveries: 101 }, '.recoveries', 'must be an integer from 2 to 100 (got 101)'],
  [{ recoveries: 3 }, '.within', `must be ${duration} (missing)`],
  [{ ...valid, within: '0s' }, '.within', `must be ${duration} (got "0s")`],
  [{ ...valid, within: '9999999h' }, '.within', 'must be a duration > 0 and below 292 years (got "9999999h")'],
  [{ ...valid, initial: 300 }, '.initial', `must be ${duration} (got 300)`],
  [{ ...valid, initial: '2h' }, '.initial', 'must be at most max, which is 1h if not set (got "2h")'],
  [{ ...valid, initial: '11m', max: '10m' }, '.initial', 'must be at most max, which is 10m (got "11m")'],
  [{ ...valid, max: '-1m' }, '.max', `must be ${duration} (got "-1m")`],
  [{ ...valid, budget: 2 }, '.budget', 'must be a mapping (got 2)'],
  [{ ...valid, budget: {} }, '.budget', 'must be percent, count or both (got {})'],
  [{ ...valid, budget: { percent: 0 } }, '.budget.percent', 'must be an integer from 1 to 100 (got 0)'],
  [{ ...valid, budget: { count: 1.5 } }, '.budget.count', 'must be an integer from 1 to 1000000 (got 1.5)'],
  [{ ...valid, limit: 2 }, '.limit', 'unknown field; accepted: recoveries, within, initial, max, budget'],
];

for (const [flapping, field, problem] of malformed) {
  test(`a malformed rule is refused: flapping${field}: ${problem.slice(0, 60)}`, () => {
    assert.deepEqual(read(flapping).problems, [`policies[0].flapping${field}: ${problem}`]);
  });
}

test('what is not set has its default', () => {
  const [policy] = read(valid).settings.policies;
  assert.deepEqual(policy?.flapping, {
    recoveries: 3,
    withinMs: 3_600_000,
    initialMs: 300_000,
    maxMs: 3_600_000,
    budget: { percent: 10, count: 1 },
  });
});

test('a changed rule is described in one line', () => {
  const [policy] = read({ ...valid, max: '20m', budget: { percent: 5 } }).settings.policies;
  assert.match(describePolicy(policy), /flapping at 3 recoveries within 1h0m0s: kept for 5m0s to 20m0s, budget 5 %$/);
});
