import assert from 'node:assert/strict';
import { test } from 'node:test';
import { buildState, mergeDelta } from '../../../../src/dashboard/stream/merge-delta.ts';
import {
  clusterOf,
  nodeCell,
  sample,
  snapshotOf,
  timelineLine,
  zoneRow,
} from '../../../support/dashboard-snapshots.ts';

const snapshot = snapshotOf({
  nodes: [nodeCell('n1'), nodeCell('n2', { zone: 'b' })],
  zones: [zoneRow('a'), zoneRow('b')],
  timeline: [timelineLine(2), timelineLine(1)],
  samples: [sample({ silent: 1 })],
});

test('a snapshot replaces everything, and counts as a change of the nodes', () => {
  const first = buildState(snapshot, undefined);
  const second = buildState(snapshotOf({ nodes: [nodeCell('n3')] }), first);
  assert.deepEqual([...first.nodes.keys()], ['n1', 'n2']);
  assert.deepEqual([...second.nodes.keys()], ['n3']);
  assert.notEqual(second.membership, first.membership);
  assert.deepEqual(second.timeline, []);
});

test('the timeline is ordered by id, and a line that arrives twice is kept once', () => {
  const state = buildState(snapshot, undefined);
  const merged = mergeDelta(state, { timeline: [timelineLine(3), timelineLine(2)] });
  assert.deepEqual(
    merged.timeline.map(({ id }) => id),
    [1, 2, 3],
  );
});

test('of the timeline and of the samples only so many are kept', () => {
  const { server } = snapshot;
  const small = buildState(
    { ...snapshot, server: { ...server, timelineMax: 2, samplesEverySeconds: 1_800 } },
    undefined,
  );
  const merged = mergeDelta(small, {
    timeline: [timelineLine(3), timelineLine(4)],
    sample: sample({ silent: 2 }),
  });
  const last = mergeDelta(merged, { sample: sample({ silent: 3 }) });
  assert.deepEqual(
    merged.timeline.map(({ id }) => id),
    [3, 4],
  );
  assert.deepEqual(
    last.samples.map(({ silent }) => silent),
    [2, 3],
  );
});

test('what a delta does not have stays the same object', () => {
  const state = buildState(snapshot, undefined);
  const merged = mergeDelta(state, {});
  assert.deepEqual(merged, state);
  assert.equal(merged.nodes, state.nodes);
  assert.equal(merged.timeline, state.timeline);
});

test('a changed state keeps the order of nodes; additions, removals and moves to another zone change it', () => {
  const state = buildState(snapshot, undefined);
  const changed = mergeDelta(state, { nodes: [nodeCell('n1', { state: 'tainted' })] });
  assert.equal(changed.membership, state.membership);
  assert.equal(changed.nodes.get('n1')?.state, 'tainted');
  assert.equal(state.nodes.get('n1')?.state, 'ready');
  for (const delta of [
    { nodes: [nodeCell('n9')] },
    { nodes: [nodeCell('n1', { zone: 'b' })] },
    { removedNodes: ['n2'] },
  ])
    assert.notEqual(mergeDelta(state, delta).membership, state.membership);
  assert.deepEqual([...mergeDelta(state, { removedNodes: ['n2'] }).nodes.keys()], ['n1']);
});

test('cluster and zones are replaced as a whole', () => {
  const cluster = clusterOf({ leading: false });
  const merged = mergeDelta(buildState(snapshot, undefined), { cluster, zones: [] });
  assert.deepEqual([merged.cluster, merged.zones], [cluster, []]);
});
