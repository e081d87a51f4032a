import assert from 'node:assert/strict';
import { test } from 'node:test';
import { NodeCuts } from '../../../../../src/cli/simulation/actions/node-cuts.ts';
import { FaultInjector, type FaultOrder } from '../../../../../src/hollow-cluster/kubelet/faults/fault-injector.ts';
import { selectNodes } from '../../../../../src/hollow-cluster/kubelet/faults/select-nodes.ts';
import { ManualClock } from '../../../../support/manual-clock.ts';

const nodes = ['a-1', 'a-2', 'a-3', 'a-4', 'b-1', 'b-2'].map((name) => ({ name, labels: { zone: name.slice(0, 1) } }));

/** A fleet whose nodes are only selected. */
function stand(active = 0) {
  const orders: FaultOrder[] = [];
  const faults: Pick<FaultInjector, 'post' | 'list'> = {
    post: (order) => {
      orders.push(order);
      const selected = selectNodes(nodes, order.selector, 'seed');
      return { id: 'fault-1', order, nodes: selected, active: selected.length, waiting: 0 };
    },
    list: () => Array.from({ length: active }),
  };
  return { cuts: new NodeCuts({ faults, nodes, zoneOf: ({ labels }) => `r/${labels['zone']}` }), orders };
}

test('names, patterns, a zone and a share select together', () => {
  const { cuts, orders } = stand();
  cuts.cut({ kind: 'cut', nodes: ['a-1', 'b-1', 'a-*'], zone: 'r/a', share: 0.5, seconds: 60 });
  const [order] = orders;
  assert.deepEqual(order?.selector, { among: ['a-1', 'a-2', 'a-3', 'a-4'], share: 0.5 });
  assert.deepEqual([order?.fault, order?.forMs], [{ kind: 'partition', direction: 'all', manner: 'silent' }, 60_000]);
});

test('the answer says how many nodes, and for how long', () => {
  const { cuts } = stand();
  assert.deepEqual(cuts.cut({ kind: 'cut' }), { text: 'cut 6 nodes off from the API server until it is undone' });
  const one = cuts.cut({ kind: 'cut', nodes: ['b-2'], seconds: 5 });
  assert.deepEqual(one, { text: 'cut b-2 off from the API server for 5 s' });
  const half = cuts.cut({ kind: 'cut', zone: 'r/a', share: 0.5 });
  assert.deepEqual(half, { text: 'cut 2 nodes off from the API server until it is undone' });
});

test('without a matching node, or with too many faults, nothing is done', () => {
  const { cuts, orders } = stand();
  assert.deepEqual(cuts.cut({ kind: 'cut', nodes: ['c-*'], zone: 'r/a' }), {
    conflict: 'no node has the name c-* and is in zone "r/a"',
  });
  assert.deepEqual(stand(100).cuts.cut({ kind: 'cut' }), { conflict: '100 faults are active: undo them first' });
  assert.deepEqual(orders, []);
});

test('a fleet without nodes has none to cut', () => {
  const faults = new FaultInjector({ nodes: [], clock: new ManualClock(), seed: 1 });
  const cuts = new NodeCuts({ faults, nodes: [], zoneOf: () => '' });
  assert.deepEqual(cuts.cut({ kind: 'cut' }), { conflict: 'no node exists' });
});
