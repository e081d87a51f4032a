import assert from 'node:assert/strict';
import { test } from 'node:test';
import { describeResult } from '../../../../src/simulator/scenario/describe-result.ts';
import type { ScenarioResult } from '../../../../src/simulator/scenario/scenario-result.ts';

const interval = { notReady: { a: 1 }, noExecute: 1, deletions: 2, requests: 30, writes: 4 };
const result: ScenarioResult = {
  name: 'a <zone> fails',
  durationMs: 600_000,
  nodes: 3,
  pods: 6,
  zones: ['a'],
  settings: ['node-eviction-rate=1'],
  outcomes: [
    {
      node: 'n1',
      zone: 'a',
      faultAtMs: 60_000,
      notReadyAtMs: 105_040,
      noExecuteAtMs: 106_000,
      firstDeletionAtMs: 406_000,
      lastDeletionAtMs: 407_000,
      podsDeleted: 2,
      machineFailed: false,
      isFalse: false,
    },
    {
      node: 'n2',
      zone: 'a',
      notReadyAtMs: 110_000,
      readyAtMs: 120_000,
      podsDeleted: 0,
      machineFailed: false,
      isFalse: true,
    },
  ],
  zoneStates: [{ atMs: 105_000, zone: 'r/a', state: 'partially-disrupted', nodesPerSecond: 0 }],
  intervalMs: 10_000,
  intervals: [
    { atMs: 0, ...interval },
    { atMs: 10_000, ...interval },
  ],
  requests: { 'get leases': 12 },
  falseAssessments: 1,
  podsMovedNeedlessly: 0,
  flappingKept: 0,
  podsDeleted: 2,
  podsDeletedWithinMinuteMax: 2,
};

test('the report of one run', () => {
  const text = describeResult(result, undefined);
  assert.match(text, /^a <zone> fails: 3 nodes in 1 zone, 6 pods, 10m0s simulated\nsettings: node-eviction-rate=1$/m);
  assert.match(text, /^fault to not ready, median +45\.0s$/m);
  assert.match(text, /^pods deleted within a minute, at most +2$/m);
  assert.match(text, /^requests per second, mean of the busiest 10s +3$/m);
  assert.match(text, /^healthy nodes marked Unknown +1$/m);
  assert.match(text, /^n1 +1m0\.0s +1m45\.0s +1m46\.0s +2 at 6m46\.0s\.\.6m47\.0s +- +-$/m);
  assert.match(text, /^n2 +- +1m50\.0s \(false\) +- +- +2m0\.0s +-$/m);
  assert.match(text, /^1m45\.0s +r\/a +partially-disrupted +0 nodes\/s$/m);
});

test('two runs side by side, and a measure that one of them does not have', () => {
  const text = describeResult(result, { ...result, settings: [], outcomes: [] });
  assert.match(text, /^A: node-eviction-rate=1\nB: defaults$/m);
  assert.match(text, /^fault to NoExecute, maximum +46\.0s +-$/m);
});

test('the median of an even number is the mean of the two in the middle; no zones are said', () => {
  const [first] = result.outcomes;
  assert.ok(first !== undefined);
  const outcomes = [40_100, 49_900].map((ms) => ({ ...first, faultAtMs: 0, notReadyAtMs: ms }));
  const text = describeResult({ ...result, outcomes, zones: [] }, undefined);
  assert.match(text, /^fault to not ready, median +45\.0s$/m);
  assert.match(text, /^fault to not ready, maximum +49\.9s$/m);
  assert.match(text, /: 3 nodes in no zones, /);
});
