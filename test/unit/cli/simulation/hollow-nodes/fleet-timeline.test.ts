import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FleetTimeline } from '../../../../../src/cli/simulation/hollow-nodes/fleet-timeline.ts';
import type { GroundTruth } from '../../../../../src/hollow-cluster/kubelet/faults/ground-truth.ts';

function truth(node: string, change: GroundTruth['change'], fault = 'fault-1'): GroundTruth {
  return { atMs: Date.parse('2026-01-02T03:04:05Z'), sinceStartMs: 0, node, fault, kind: 'partition', change };
}

test('changes of one fault in the same moment are one line, and each line is taken once', () => {
  const timeline = new FleetTimeline();
  for (const node of ['a', 'b', 'c']) timeline.note(truth(node, 'begin'));
  timeline.note(truth('d', 'end', 'fault-0'));
  const lines = timeline.take();
  assert.deepEqual(
    lines.map(({ id, text, node, at }) => [id, text, node, at]),
    [
      [1, 'fault fault-1 (partition) began on 3 nodes', null, '2026-01-02T03:04:05Z'],
      [2, 'fault fault-0 (partition) ended on node d', 'd', '2026-01-02T03:04:05Z'],
    ],
  );
  assert.deepEqual(timeline.take(), []);
  timeline.note(truth('a', 'up'));
  assert.deepEqual(
    timeline.take().map(({ id, kind }) => [id, kind]),
    [[3, 'fault-up']],
  );
});
