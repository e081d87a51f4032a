import assert from 'node:assert/strict';
import { test } from 'node:test';
import { buildChangeTally, describeChanges } from '../../../../src/dashboard/nodes/build-change-summary.ts';
import { nodeCell } from '../../../support/dashboard-snapshots.ts';

const before = new Map(
  [nodeCell('n1'), nodeCell('n2'), nodeCell('n3', { state: 'tainted' })].map((node) => [node.name, node]),
);

test('changes of several deltas are one sentence', () => {
  const first = buildChangeTally({}, before, {
    nodes: [nodeCell('n1', { state: 'unreachable' }), nodeCell('n2', { state: 'unreachable' }), nodeCell('n9')],
  });
  const both = buildChangeTally(first, before, { nodes: [nodeCell('n3')], removedNodes: ['n2', 'unknown'] });
  assert.equal(describeChanges(both), '1 node now ready, 2 nodes now unreachable, 1 node added, 1 node removed.');
});

test('a change of another field is none', () => {
  assert.equal(describeChanges(buildChangeTally({}, before, { nodes: [nodeCell('n1', { pods: 9 })] })), '');
});
