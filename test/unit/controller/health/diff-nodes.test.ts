import assert from 'node:assert/strict';
import { test } from 'node:test';
import { affectsDecisions } from '../../../../src/controller/health/diff-nodes.ts';
import type { NodeView } from '../../../../src/machinery/api/node.ts';
import { aNodeView } from '../../../support/builders.ts';

const before = aNodeView({
  conditions: [{ type: 'Ready', status: 'True', lastHeartbeatTime: '2026-11-23T12:00:00Z' }],
});
const decisive: Partial<NodeView> = {
  uid: 'another',
  bootID: 'another',
  labels: { pool: 'a' },
  unschedulable: true,
  taints: [{ key: 'k', effect: 'NoExecute' }],
  conditions: [{ type: 'Ready', status: 'False' }],
  pause: 'true',
  fenced: 'f',
  outOfService: 'o',
  flapping: 'f',
  vetoes: ['karpenter.sh/do-not-repair'],
};

for (const [field, value] of Object.entries(decisive))
  test(`${field} of a node decides, whether it comes or goes`, () => {
    const after = { ...before, [field]: value };
    assert.deepEqual([affectsDecisions(before, after), affectsDecisions(after, before)], [true, true]);
  });

test('a heartbeat decides nothing', () => {
  const conditions = [{ type: 'Ready', status: 'True', lastHeartbeatTime: '2026-11-23T12:00:10Z' }];
  assert.equal(affectsDecisions(before, { ...before, resourceVersion: '2', conditions }), false);
});
