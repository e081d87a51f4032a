import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Condition } from '../../../../src/machinery/api/conditions.ts';
import { type NodeView, transformNode } from '../../../../src/machinery/api/node.ts';
import { type PodView, transformPod } from '../../../../src/machinery/api/pod.ts';
import type { Taint } from '../../../../src/machinery/api/taints.ts';
import { classifyDeletion } from '../../../../src/controller/shadow/classify-deletion.ts';
import {
  buildOwnNode,
  buildOwnPod,
  classifyTaint,
  type OwnSide,
} from '../../../../src/controller/shadow/build-own-objects.ts';
import { classifyTaintActs, hasKubeletPosted } from '../../../../src/controller/shadow/classify-real-acts.ts';
import type { TaintMatter } from '../../../../src/controller/shadow/episode.ts';

const unreachable = 'node.kubernetes.io/unreachable';
const noExecute: Taint = { key: unreachable, effect: 'NoExecute', timeAdded: '2026-01-02T03:04:05Z' };
const foreign: Taint = { key: 'example.com/reserved', effect: 'NoExecute' };
const matter: TaintMatter = `${unreachable}:NoExecute`;
const ready = (status: string, heartbeat = '2026-01-02T03:04:05Z'): Condition => ({
  type: 'Ready',
  status,
  lastHeartbeatTime: heartbeat,
});

function aNode(taints: readonly Taint[], conditions: readonly Condition[] = [ready('True')]): NodeView {
  return transformNode({
    metadata: { name: 'n', uid: 'u', resourceVersion: '1' },
    spec: { taints },
    status: { conditions },
  });
}

const asItIs: OwnSide = {
  unknown: 'as-it-is',
  shadowConditions: [],
  kubeletConditions: [],
  isInShadow: (_matter, isThere) => isThere,
  stamped: new Map(),
  labels: {},
};

test('a node without differences is the same object', () => {
  const node = aNode([noExecute, foreign]);
  assert.equal(buildOwnNode(node, asItIs), node);
});

test('a taint that only the cluster would have added does not exist for the shadow, and taints of others always do', () => {
  const own = buildOwnNode(aNode([noExecute, foreign]), { ...asItIs, isInShadow: () => false });
  assert.deepEqual(own.taints, [foreign]);
});

test('a taint of the shadow exists before the cluster adds it, and keeps the time of the shadow afterwards', () => {
  const stamped = new Map([[matter, { ...noExecute, timeAdded: '2026-01-02T03:00:00Z' }]]);
  const before = buildOwnNode(aNode([foreign]), { ...asItIs, isInShadow: () => true, stamped });
  assert.deepEqual(before.taints, [foreign, stamped.get(matter)]);
  const after = buildOwnNode(aNode([noExecute]), { ...asItIs, isInShadow: () => true, stamped });
  assert.deepEqual(after.taints, [stamped.get(matter)]);
});

test('conditions are as the shadow would have written them, or as the kubelet left them before the cluster wrote', () => {
  const network: Condition = { type: 'NetworkUnavailable', status: 'True' };
  const marked = buildOwnNode(aNode([], [ready('True'), network]), {
    ...asItIs,
    unknown: 'marked',
    shadowConditions: [ready('Unknown'), { type: 'PIDPressure', status: 'Unknown' }],
  });
  assert.deepEqual(marked.conditions, [ready('Unknown'), network, { type: 'PIDPressure', status: 'Unknown' }]);
  const undone = buildOwnNode(aNode([], [ready('Unknown'), network]), {
    ...asItIs,
    unknown: 'unmarked',
    kubeletConditions: [ready('True'), { type: 'NetworkUnavailable', status: 'False' }],
  });
  assert.deepEqual(undone.conditions, [ready('True'), network]);
});

test('labels that the shadow would have added exist', () => {
  assert.deepEqual(buildOwnNode(aNode([]), { ...asItIs, labels: { a: 'b' } }).labels, { a: 'b' });
});

test('only changes of managed taints are actions', () => {
  const before = aNode([foreign, { key: 'node.kubernetes.io/unschedulable', effect: 'NoSchedule' }]);
  const now = aNode([noExecute, { key: 'example.com/other', effect: 'NoSchedule' }]);
  assert.deepEqual(classifyTaintActs(before, now), [
    { matter, value: true },
    { matter: 'node.kubernetes.io/unschedulable:NoSchedule', value: false },
  ]);
  assert.equal(classifyTaint({ key: 'node.kubernetes.io/disk-pressure', effect: 'NoExecute' }), undefined);
  assert.equal(classifyTaint({ key: unreachable, effect: 'PreferNoSchedule' }), undefined);
});

test('a new heartbeat or any status but Unknown comes from the kubelet', () => {
  const seen = (condition: Condition | undefined): NodeView => aNode([], condition === undefined ? [] : [condition]);
  assert.equal(hasKubeletPosted(seen(ready('True')), seen(ready('True'))), false);
  assert.equal(hasKubeletPosted(seen(ready('True')), seen(ready('True', '2026-01-02T03:04:15Z'))), true);
  assert.equal(hasKubeletPosted(seen(ready('True')), seen(ready('Unknown'))), false);
  assert.equal(hasKubeletPosted(seen(ready('Unknown')), seen(ready('True'))), true);
  assert.equal(hasKubeletPosted(seen(undefined), seen(ready('False'))), true);
});

function aPod(tolerationSeconds?: number, reason?: string): PodView {
  const toleration = { key: unreachable, operator: 'Exists', effect: 'NoExecute' };
  return transformPod({
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

test('a deletion is classified by its condition, and without one by a toleration that has ended', () => {
  const addedMs = Date.parse(noExecute.timeAdded ?? '');
  const table: readonly (readonly [string, PodView, readonly Taint[], number, 'by-taint' | 'by-others'])[] = [
    ['the taint manager says so', aPod(300, 'DeletionByTaintManager'), [], 0, 'by-taint'],
    ['a drain says so', aPod(undefined, 'EvictionByEvictionAPI'), [noExecute], 0, 'by-others'],
    ['preempted', aPod(0, 'PreemptionByScheduler'), [noExecute], 60, 'by-others'],
    ['nothing is tainted', aPod(), [], 0, 'by-others'],
    ['a taint that evicts no pod', aPod(), [{ ...noExecute, effect: 'NoSchedule' }], 0, 'by-others'],
    ['not tolerated', aPod(), [noExecute], 0, 'by-taint'],
    ['tolerated, time not over', aPod(300), [noExecute], 200, 'by-others'],
    ['tolerated, time over', aPod(300), [noExecute], 300, 'by-taint'],
  ];
  for (const [what, pod, taints, seconds, expected] of table)
    assert.equal(classifyDeletion(pod, taints, addedMs + seconds * 1_000), expected, what);
});

test('a pod is marked or evicted for the shadow when the shadow did it, and not when only the cluster did', () => {
  const pod = aPod();
  const side = { notReady: undefined, evicted: undefined, readyBefore: 'True' };
  assert.equal(buildOwnPod(pod, side), pod);
  assert.equal(buildOwnPod(pod, { ...side, notReady: true }).ready, 'False');
  assert.equal(buildOwnPod({ ...pod, ready: 'False' }, { ...side, notReady: false }).ready, 'True');
  assert.equal(buildOwnPod(pod, { ...side, evicted: true }).terminating, true);
  const deleted = { ...pod, terminating: true, deletionGraceSeconds: 30, disruptionReason: 'DeletionByTaintManager' };
  assert.deepEqual(buildOwnPod(deleted, { ...side, evicted: false }), { ...pod, ready: 'True' });
});
