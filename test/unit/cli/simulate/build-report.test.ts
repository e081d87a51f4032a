import assert from 'node:assert/strict';
import { test } from 'node:test';
import { buildReport, type RecordedRun } from '../../../../src/cli/simulate/build-report.ts';
import type { Scenario } from '../../../../src/simulator/scenario/scenario.ts';
import type { Interval, ScenarioResult } from '../../../../src/simulator/scenario/scenario-result.ts';

const scenario: Scenario = {
  name: 's',
  description: 'd',
  durationMs: 60_000,
  seed: 7,
  nodes: [],
  pods: [],
  servers: 1,
  replicas: 1,
  leaseDurationSeconds: 40,
  steps: [],
};

function intervals(count: number): readonly Interval[] {
  return Array.from({ length: count }, (_, index) => ({
    atMs: index * 10_000,
    notReady: { a: index % 3, b: 1 },
    noExecute: 1,
    deletions: 2,
    requests: 3,
    writes: 1,
  }));
}

function runOf(change: Partial<ScenarioResult> = {}, recording: Partial<RecordedRun['recording']> = {}): RecordedRun {
  return {
    result: {
      name: 's',
      durationMs: 60_000,
      nodes: 1,
      pods: 0,
      zones: ['a'],
      settings: [],
      outcomes: [],
      zoneStates: [{ atMs: 1_000.4, zone: '/a', state: 'fully-disrupted', nodesPerSecond: 0 }],
      intervalMs: 10_000,
      intervals: intervals(2),
      requests: {},
      falseAssessments: 0,
      podsMovedNeedlessly: 0,
      flappingKept: 0,
      podsDeleted: 0,
      podsDeletedWithinMinuteMax: 0,
      ...change,
    },
    recording: {
      nodes: [{ name: 'n', zone: '/a' }],
      changes: [
        { atMs: 0, key: 0, value: { state: 'ready', pods: 2 } },
        { atMs: 900.5, key: 0, value: { state: 'unreachable', pods: 2 } },
      ],
      stepMs: 0,
      decisions: [{ atMs: 900.5, kind: 'node-silent', text: 't', warning: false, node: 'n', pod: null, zone: null }],
      decisionsLeftOut: 0,
      ...recording,
    },
  };
}

test('one run: its nodes, changes, zones, samples and decisions', () => {
  const { runs, measures, seed, version, text } = buildReport(scenario, [runOf()], '1.2.3');
  assert.deepEqual([seed, version, text.startsWith('s: 1 nodes in 1 zone')], [7, '1.2.3', true]);
  const [run] = runs;
  assert.deepEqual(run?.nodes, [['n', '/a']]);
  assert.deepEqual(
    run?.changes.map(([atMs, node, state, pods]) => [atMs, node, run.states[state], pods]),
    [
      [0, 0, 'ready', 2],
      [901, 0, 'unreachable', 2],
    ],
  );
  assert.deepEqual(run?.zoneChanges, [[1_000, '/a', 'fully-disrupted', 0]]);
  assert.deepEqual(run?.samples, [
    [0, 1, 1, 2, 3],
    [10_000, 2, 1, 2, 3],
  ]);
  assert.deepEqual([run?.label, run?.limits, run?.timeline[0]?.atMs], ['', [], 901]);
  assert.deepEqual(measures.find(({ name }) => name === 'pods deleted')?.values, ['0']);
});

test('two runs are A and B, and each figure has two values', () => {
  const { runs, measures } = buildReport(scenario, [runOf(), runOf({ podsDeleted: 3, settings: ['x=1'] })], '1');
  assert.deepEqual(
    runs.map(({ label, settings }) => [label, settings]),
    [
      ['A', 'defaults'],
      ['B', 'x=1'],
    ],
  );
  assert.deepEqual(measures.find(({ name }) => name === 'pods deleted')?.values, ['0', '3']);
});

test('what is sampled or left out is said', () => {
  const sampled = runOf({ intervals: intervals(10_001) }, { stepMs: 60_000, decisionsLeftOut: 12 });
  const [run] = buildReport(scenario, [sampled], '1').runs;
  assert.deepEqual(run?.limits, [
    'The states of nodes are sampled: those that lasted less than 1m0s may be missing.',
    'The timeline leaves out 12 decisions between its first and its last ones.',
  ]);
  assert.deepEqual([run?.sampleMs, run?.samples.length], [30_000, 3_334]);
  assert.deepEqual(run?.samples.at(-1), [100_000_000 - 10_000, 2, 2, 4, 6]);
});
