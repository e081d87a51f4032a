import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  buildHistory,
  buildMoment,
  describeMoment,
  selectEventTimes,
} from '../../../../src/dashboard/report/build-moment.ts';
import type { ReportRun } from '../../../../src/dashboard/report/report-data.ts';

const run: ReportRun = {
  label: '',
  settings: 'defaults',
  nodes: [
    ['a-1', 'r/a'],
    ['b-1', 'r/b'],
  ],
  states: ['ready', 'suspect', 'tainted', 'gone'],
  changes: [
    [0, 0, 0, 5],
    [0, 1, 0, 5],
    [60_000, 0, 1, 5],
    [100_000, 0, 2, 5],
    [110_000, 0, 2, 3],
    [120_000, 1, 3, 0],
    [200_000, 0, 0, 3],
  ],
  zoneChanges: [[100_000, 'r/a', 'fully-disrupted', 0]],
  sampleMs: 10_000,
  samples: [],
  timeline: [
    { atMs: 100_000, kind: 'node-silent', text: 'silent', warning: false, node: 'a-1', pod: null, zone: null },
    { atMs: 200_000, kind: 'node-ready', text: 'ready', warning: false, node: 'a-1', pod: null, zone: null },
  ],
  limits: [],
};

test('the state of each node at a moment, and since when it has it', () => {
  const at = (ms: number): readonly unknown[] =>
    [...buildMoment(run, ms).nodes.values()].map(({ name, state, since, pods }) => [
      name,
      state,
      since.slice(14, 19),
      pods,
    ]);
  assert.deepEqual(at(0), [
    ['a-1', 'ready', '00:00', 5],
    ['b-1', 'ready', '00:00', 5],
  ]);
  assert.deepEqual(at(99_999)[0], ['a-1', 'suspect', '01:00', 5]);
  // A pod that left is no other state.
  assert.deepEqual(at(115_000)[0], ['a-1', 'tainted', '01:40', 3]);
  // A node that was deleted has no cell.
  assert.deepEqual(at(300_000), [['a-1', 'ready', '03:20', 3]]);
});

test('zones are normal until the controller reports another condition', () => {
  const at = (ms: number): readonly unknown[] =>
    buildMoment(run, ms).zones.map(({ name, condition, nodes, unready, ratePerSecond }) => [
      name,
      condition,
      nodes,
      unready,
      ratePerSecond,
    ]);
  assert.deepEqual(at(60_000), [
    ['r/a', 'normal', 1, 0, null],
    ['r/b', 'normal', 1, 0, null],
  ]);
  assert.deepEqual(at(110_000), [
    ['r/a', 'fully-disrupted', 1, 1, 0],
    ['r/b', 'normal', 1, 0, null],
  ]);
});

test('the timeline until a moment, and the moments at which something happens', () => {
  assert.deepEqual(
    buildMoment(run, 150_000).timeline.map(({ kind }) => kind),
    ['node-silent'],
  );
  assert.deepEqual(selectEventTimes(run), [0, 60_000, 100_000, 110_000, 120_000, 200_000]);
});

test('a moment in one sentence', () => {
  assert.equal(describeMoment(buildMoment(run, 0)), 'All 2 nodes are ready.');
  assert.equal(describeMoment(buildMoment(run, 70_000)), '1 of 2 nodes are ready; 1 suspect.');
});

test('the states of one node over the run', () => {
  assert.deepEqual(
    buildHistory(run, 'a-1').map(({ state, fromMs, untilMs }) => [state, fromMs, untilMs]),
    [
      ['ready', 0, 60_000],
      ['suspect', 60_000, 100_000],
      ['tainted', 100_000, 200_000],
      ['ready', 200_000, undefined],
    ],
  );
  assert.deepEqual(buildHistory(run, 'unknown'), []);
});
