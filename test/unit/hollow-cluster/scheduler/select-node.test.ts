import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { Pod } from '../../../../src/machinery/api/pod.ts';
import { demandOf, type NodeLoad } from '../../../../src/hollow-cluster/scheduler/node-loads.ts';
import { decideFit, selectNode } from '../../../../src/hollow-cluster/scheduler/select-node.ts';

function pod(cpu?: string): Pod {
  const requests = cpu === undefined ? {} : { cpu };
  return { metadata: { name: 'p' }, spec: { containers: [{ name: 'main', resources: { requests } }] } };
}

function load(name: string, over: { pods?: readonly Pod[]; tainted?: boolean; cpu?: string } = {}): NodeLoad {
  const taints = over.tainted === true ? [{ key: 'k', effect: 'NoSchedule' }] : [];
  const allocatable = { cpu: over.cpu ?? '1', memory: '4Gi', pods: '10' };
  return {
    name,
    node: { metadata: { name }, spec: { taints }, status: { allocatable } },
    pods: (over.pods ?? []).map(demandOf),
  };
}

const place = (wanted: Pod, loads: readonly NodeLoad[], draw = 0): unknown =>
  selectNode(wanted, demandOf(wanted), loads, draw);

test('the least allocated node that fits is selected', () => {
  const loads = [load('a', { pods: [pod('500m')] }), load('b', { tainted: true }), load('c', { pods: [pod('200m')] })];
  assert.deepEqual(place(pod('100m'), loads), { kind: 'node', name: 'c' });
});

test('the draw decides between equal nodes', () => {
  const loads = ['a', 'b', 'c'].map((name) => load(name));
  assert.deepEqual(
    [0, 0.34, 0.99].map((draw) => place(pod(), loads, draw)),
    ['a', 'b', 'c'].map((name) => ({ kind: 'node', name })),
  );
});

test('the message counts reasons as kube-scheduler does', () => {
  const loads = [load('a', { cpu: '100m' }), load('b', { cpu: '200m' }), load('c', { tainted: true })];
  assert.deepEqual(place(pod('500m'), loads), {
    kind: 'unschedulable',
    message: '0/3 nodes are available: 1 node(s) had untolerated taint(s), 2 Insufficient cpu.',
  });
  assert.deepEqual(place(pod(), []), { kind: 'unschedulable', message: 'no nodes available to schedule pods' });
});

test('whatever the nodes are: a selected node fits, and none is selected only if none fits', () => {
  const loads = fc.array(
    fc.record({ pods: fc.array(fc.constantFrom('100m', '300m', '700m'), { maxLength: 6 }), tainted: fc.boolean() }),
    { maxLength: 8 },
  );
  fc.assert(
    fc.property(loads, fc.double({ min: 0, max: 0.999_999, noNaN: true }), (specs, draw) => {
      const all = specs.map(({ pods, tainted }, index) =>
        load(`n${index}`, { pods: pods.map((cpu) => pod(cpu)), tainted }),
      );
      const wanted = pod('400m');
      const demand = demandOf(wanted);
      const placement = selectNode(wanted, demand, all, draw);
      const fitting = all.filter((each) => decideFit(wanted, demand, each).length === 0).map(({ name }) => name);
      if (placement.kind === 'node') assert.ok(fitting.includes(placement.name));
      else assert.deepEqual(fitting, []);
    }),
  );
});
