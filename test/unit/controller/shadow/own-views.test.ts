import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Condition } from '../../../../src/api/conditions.ts';
import { type NodeView, viewNode } from '../../../../src/api/node.ts';
import { type PodView, viewPod } from '../../../../src/api/pod.ts';
import type { Taint } from '../../../../src/api/taints.ts';
import { classifyDeparture } from '../../../../src/controller/shadow/classify-departure.ts';
import { classifyTaint } from '../../../../src/controller/shadow/classify-taint.ts';
import { deriveOwnNode, type OwnSide } from '../../../../src/controller/shadow/derive-own-node.ts';
import { deriveOwnPod } from '../../../../src/controller/shadow/derive-own-pod.ts';
import { deriveTaintActs, hasSpoken } from '../../../../src/controller/shadow/derive-real-acts.ts';
import type { TaintMatter } from '../../../../src/controller/shadow/episode.ts';

const unreachable = 'node.kubernetes.io/unreachable';
const noExecute: Taint = { key: unreachable, effect: 'NoExecute', timeAdded: '2026-01-02T03:04:05Z' };
const foreign: Taint = { key: 'example.com/reserved', effect: 'NoExecute' };
const matter: TaintMatter = `${unreachable}:NoExecute`;
const ready = (status: string, heartbeat = 'h1'): Condition => ({
  type: 'Ready',
  status,
  lastHeartbeatTime: heartbeat,
});

function aNode(taints: readonly Taint[], conditions: readonly Condition[] = [ready('True')]): NodeView {
  return viewNode({
    metadata: { name: 'n', uid: 'u', resourceVersion: '1' },
    spec: { taints },
    status: { conditions },
  });
}

const asItIs: OwnSide = {
  unknown: 'as-it-is',
  wished: [],
  spoken: [],
  isOurs: (_matter, isThere) => isThere,
  stamped: new Map(),
  labels: {},
};

test('a node that does not differ is the same object', () => {
  const node = aNode([noExecute, foreign]);
  assert.equal(deriveOwnNode(node, asItIs), node);
});

test('a taint of theirs that we would not have put there is not there, and those of others always are', () => {
  const own = deriveOwnNode(aNode([noExecute, foreign]), { ...asItIs, isOurs: () => false });
  assert.deepEqual(own.taints, [foreign]);
});

test('a taint of ours is there before theirs is, and keeps our stamp when theirs has come', () => {
  const stamped = new Map([[matter, { ...noExecute, timeAdded: '2026-01-02T03:00:00Z' }]]);
  const before = deriveOwnNode(aNode([foreign]), { ...asItIs, isOurs: () => true, stamped });
  assert.deepEqual(before.taints, [foreign, stamped.get(matter)]);
  const after = deriveOwnNode(aNode([noExecute]), { ...asItIs, isOurs: () => true, stamped });
  assert.deepEqual(after.taints, [stamped.get(matter)]);
});

test('conditions are as we would have written them, or as the kubelet left them before they wrote', () => {
  const network: Condition = { type: 'NetworkUnavailable', status: 'True' };
  const wished = deriveOwnNode(aNode([], [ready('True'), network]), {
    ...asItIs,
    unknown: 'wished',
    wished: [ready('Unknown'), { type: 'PIDPressure', status: 'Unknown' }],
  });
  assert.deepEqual(wished.conditions, [ready('Unknown'), network, { type: 'PIDPressure', status: 'Unknown' }]);
  const undone = deriveOwnNode(aNode([], [ready('Unknown'), network]), {
    ...asItIs,
    unknown: 'undone',
    spoken: [ready('True'), { type: 'NetworkUnavailable', status: 'False' }],
  });
  assert.deepEqual(undone.conditions, [ready('True'), network]);
});

test('labels that we would have added are there', () => {
  assert.deepEqual(deriveOwnNode(aNode([]), { ...asItIs, labels: { a: 'b' } }).labels, { a: 'b' });
});

test('only taints that lifecycle controllers put there are their acts', () => {
  const before = aNode([foreign, { key: 'node.kubernetes.io/unschedulable', effect: 'NoSchedule' }]);
  const now = aNode([noExecute, { key: 'example.com/other', effect: 'NoSchedule' }]);
  assert.deepEqual(deriveTaintActs(before, now), [
    { matter, value: true },
    { matter: 'node.kubernetes.io/unschedulable:NoSchedule', value: false },
  ]);
  assert.equal(classifyTaint({ key: 'node.kubernetes.io/disk-pressure', effect: 'NoExecute' }), undefined);
  assert.equal(classifyTaint({ key: unreachable, effect: 'PreferNoSchedule' }), undefined);
});

test('a kubelet speaks by a new heartbeat or by another answer than Unknown', () => {
  const seen = (condition: Condition | undefined): NodeView => aNode([], condition === undefined ? [] : [condition]);
  assert.equal(hasSpoken(seen(ready('True')), seen(ready('True'))), false);
  assert.equal(hasSpoken(seen(ready('True')), seen(ready('True', 'h2'))), true);
  assert.equal(hasSpoken(seen(ready('True')), seen(ready('Unknown'))), false);
  assert.equal(hasSpoken(seen(ready('Unknown')), seen(ready('True'))), true);
  assert.equal(hasSpoken(seen(undefined), seen(ready('False'))), true);
});

function aPod(tolerationSeconds?: number, reason?: string): PodView {
  const toleration = { key: unreachable, operator: 'Exists', effect: 'NoExecute' };
  return viewPod({
    metadata: { namespace: 'd', name: 'p', uid: 'u', resourceVersion: '1' },
    spec: {
      nodeName: 'n',
      tolerations: tolerationSeconds === undefined ? [] : [{ ...toleration, tolerationSeconds }],
    },
    status: {
      conditions: [
        ready('True'),
        ...(reason === undefined ? [] : [{ type: 'DisruptionTarget', status: 'True', reason }]),
      ],
    },
  });
}

test('a deletion is told by its condition, and without one by a patience that is over', () => {
  const addedMs = Date.parse(noExecute.timeAdded ?? '');
  const table: readonly (readonly [string, PodView, readonly Taint[], number, 'by-taint' | 'by-others'])[] = [
    ['the taint manager says so', aPod(300, 'DeletionByTaintManager'), [], 0, 'by-taint'],
    ['a drain says so', aPod(undefined, 'EvictionByEvictionAPI'), [noExecute], 0, 'by-others'],
    ['preempted', aPod(0, 'PreemptionByScheduler'), [noExecute], 60, 'by-others'],
    ['nothing is tainted', aPod(), [], 0, 'by-others'],
    ['a taint that sends nobody away', aPod(), [{ ...noExecute, effect: 'NoSchedule' }], 0, 'by-others'],
    ['not tolerated', aPod(), [noExecute], 0, 'by-taint'],
    ['tolerated, time not over', aPod(300), [noExecute], 200, 'by-others'],
    ['tolerated, time over', aPod(300), [noExecute], 300, 'by-taint'],
  ];
  for (const [what, pod, taints, seconds, expected] of table)
    assert.equal(classifyDeparture(pod, taints, addedMs + seconds * 1_000), expected, what);
});

test('a pod is marked or evicted for us when we did it, and neither when only they did', () => {
  const pod = aPod();
  const side = { notReady: undefined, evicted: undefined, readyBefore: 'True' };
  assert.equal(deriveOwnPod(pod, side), pod);
  assert.equal(deriveOwnPod(pod, { ...side, notReady: true }).ready, 'False');
  assert.equal(deriveOwnPod({ ...pod, ready: 'False' }, { ...side, notReady: false }).ready, 'True');
  assert.equal(deriveOwnPod(pod, { ...side, evicted: true }).terminating, true);
  const theirs = { ...pod, terminating: true, deletionGraceSeconds: 30, disruptionReason: 'DeletionByTaintManager' };
  assert.deepEqual(deriveOwnPod(theirs, { ...side, evicted: false }), { ...pod, ready: 'True' });
});
