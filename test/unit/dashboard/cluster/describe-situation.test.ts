import assert from 'node:assert/strict';
import { test } from 'node:test';
import { describeSituation, isDisrupted } from '../../../../src/dashboard/cluster/describe-situation.ts';
import type { Snapshot } from '../../../../src/dashboard/protocol.ts';
import { buildState } from '../../../../src/dashboard/stream/merge-delta.ts';
import { clusterOf, nodeCell, snapshotOf, zoneRow } from '../../../support/dashboard-snapshots.ts';

const nowMs = Date.parse('2026-11-24T12:00:00Z');
const describe = (change: Partial<Snapshot>): readonly string[] =>
  describeSituation(buildState(snapshotOf(change), undefined), nowMs);

test('a healthy cluster in two sentences', () => {
  assert.deepEqual(describe({ nodes: [nodeCell('n1'), nodeCell('n2')], zones: [zoneRow('a')] }), [
    'All 2 nodes are ready.',
    'No eviction is due.',
  ]);
});

test('an outage: how many nodes in which states, disrupted zones, queues, the first eviction', () => {
  const sentences = describe({
    nodes: [nodeCell('n1'), nodeCell('n2', { state: 'unreachable' }), nodeCell('n3', { state: 'tainted' })],
    zones: [
      zoneRow('a', { condition: 'partially-disrupted', waiting: 2, drainSeconds: 185 }),
      zoneRow('b', { condition: 'fully-disrupted', waiting: 1, ratePerSecond: 0 }),
      zoneRow('c'),
    ],
    cluster: clusterOf({
      evictions: [{ pod: 'default/p', node: 'n3', at: '2026-11-24T12:00:42Z' }],
      evictionsTotal: 12,
    }),
  });
  assert.deepEqual(sentences, [
    '1 of 3 nodes are ready; 1 unreachable, 1 tainted.',
    'Zones: a is partially-disrupted, b is fully-disrupted.',
    '3 nodes wait in queues, the last queue is empty in about 3m 05s, the rate of 1 zone is 0.',
    '12 evictions due, the first in 0:42.',
  ]);
});

test('many disrupted zones are counted, and one waiting node is one node', () => {
  const zones = ['a', 'b', 'c', 'd', 'e'].map((name) => zoneRow(name, { condition: 'fully-disrupted' }));
  const sentences = describe({ nodes: [nodeCell('n1')], zones: [...zones, zoneRow('f', { waiting: 1 })] });
  assert.match(sentences[1] ?? '', / and 2 more\.$/u);
  assert.equal(sentences[2], '1 node waits in queues.');
});

test('an eviction whose time is over is due now', () => {
  const cluster = clusterOf({ evictions: [{ pod: 'p', node: 'n', at: '2026-11-24T11:00:00Z' }], evictionsTotal: 1 });
  assert.equal(describe({ nodes: [nodeCell('n')], cluster }).at(-1), '1 eviction due, the first now.');
});

test('a cluster without nodes', () => {
  assert.deepEqual(describe({}), ['The cluster has no nodes.']);
});

test('conditions of zones', () => {
  assert.deepEqual(['normal', null, 'partially-disrupted', 'fully-disrupted'].map(isDisrupted), [
    false,
    false,
    true,
    true,
  ]);
});
