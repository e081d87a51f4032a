import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  buildFaultBanners,
  buildFleetZones,
  selectZone,
} from '../../../../../src/cli/simulation/hollow-nodes/build-fleet-rows.ts';
import type { NodeCell, NodeState } from '../../../../../src/dashboard/protocol.ts';
import type { ActiveFault } from '../../../../../src/hollow-cluster/kubelet/faults/fault-injector.ts';

function cell(zone: string, state: NodeState): NodeCell {
  return { name: 'n', zone, policy: null, state, since: '', pods: 0, held: null, next: null };
}

test('the zone of a node is that of a controller without policies', () => {
  const labels = { 'topology.kubernetes.io/region': 'r', 'topology.kubernetes.io/zone': 'z' };
  assert.deepEqual([selectZone({ labels }), selectZone({ labels: {} })], ['r/z', '(none)']);
});

test('zones by name, with the number of nodes that are not ready; a silent node is ready until the API server shows it', () => {
  const rows = buildFleetZones([
    cell('r/b', 'ready'),
    cell('r/a', 'suspect'),
    cell('r/b', 'unreachable'),
    cell('r/b', 'tainted'),
  ]);
  assert.deepEqual(
    rows.map(({ name, nodes, unready, condition, ratePerSecond }) => [name, nodes, unready, condition, ratePerSecond]),
    [
      ['r/a', 1, 0, null, null],
      ['r/b', 3, 2, null, null],
    ],
  );
});

test('a fault is a banner: on how many nodes, since when, until when, and what ends it', () => {
  const fault = (change: Partial<ActiveFault>, forMs?: number): ActiveFault => ({
    id: 'fault-1',
    order: { selector: {}, fault: { kind: 'pleg-hang' }, forMs },
    nodes: ['a', 'b'],
    active: 2,
    waiting: 0,
    ...change,
  });
  const began = new Map([['fault-1', Date.parse('2026-01-02T03:04:05Z')]]);
  const [timed, endless, partial] = buildFaultBanners(
    [fault({}, 60_000), fault({ active: 1 }), fault({ id: 'x', waiting: 3 }, 60_000)],
    began,
    ({ kind }) => kind,
  );
  assert.deepEqual(timed, {
    kind: 'fault',
    why: 'fault fault-1 on 2 nodes: pleg-hang',
    since: '2026-01-02T03:04:05Z',
    until: '2026-01-02T03:05:05Z',
    ends: '"Undo all", or DELETE /faults/fault-1',
  });
  assert.deepEqual([endless?.why, endless?.until], ['fault fault-1 on 1 node: pleg-hang', null]);
  assert.deepEqual(
    [partial?.why, partial?.since, partial?.until],
    ['fault x on 2 nodes, 3 more to follow: pleg-hang', null, null],
  );
});
