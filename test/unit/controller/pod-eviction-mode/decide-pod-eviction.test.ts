import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { ObjectMeta } from '../../../../src/machinery/api/meta.ts';
import { type PodView, transformPod } from '../../../../src/machinery/api/pod.ts';
import { decidePodEviction } from '../../../../src/controller/pod-eviction-mode/decide-pod-eviction.ts';
import { decidePodFate } from '../../../../src/controller/pod-eviction-mode/pod-deleter.ts';
import { planRequest } from '../../../../src/controller/writer/plan-request.ts';
import { aDaemonSetView, aPod } from '../../../support/builders.ts';

const timeoutMs = 600_000;

const viewOf = (metadata: ObjectMeta = {}): PodView =>
  transformPod(aPod('p', { metadata: { uid: 'u-p', resourceVersion: '3', ...metadata } }));

test('a node with Ready=False counts from the change of its Ready condition, with or without heartbeats', () => {
  const node = { ready: 'False', heartbeatAtMs: 590_000, readyChangedAtMs: 0 };
  assert.deepEqual(decidePodEviction(node, timeoutMs, 600_000), { kind: 'wait', fromMs: 600_001 });
  assert.deepEqual(decidePodEviction(node, timeoutMs, 600_001), { kind: 'evict', unreadyMs: 600_001 });
});

test('a silent node counts from its last heartbeat, whenever it became Unknown', () => {
  const node = { ready: 'Unknown', heartbeatAtMs: 0, readyChangedAtMs: 40_000 };
  assert.deepEqual(decidePodEviction(node, timeoutMs, 560_000), { kind: 'wait', fromMs: 600_001 });
  assert.deepEqual(decidePodEviction(node, timeoutMs, 600_001), { kind: 'evict', unreadyMs: 600_001 });
});

test('a Ready node is never evicted, and a node with another status neither starts nor ends anything', () => {
  const actual = decidePodEviction({ ready: 'True', heartbeatAtMs: 0, readyChangedAtMs: 0 }, timeoutMs, 1e9).kind;
  assert.equal(actual, 'cancel');
  for (const ready of ['missing', 'Perhaps', ''])
    assert.equal(decidePodEviction({ ready, heartbeatAtMs: 0, readyChangedAtMs: 0 }, timeoutMs, 1e9).kind, 'undecided');
});

test('property: the predicted time is the earliest one at which the node is evicted', () => {
  const times = fc.nat(10_000_000);
  fc.assert(
    fc.property(
      fc.constantFrom('False', 'Unknown'),
      times,
      times,
      fc.nat(1_000_000),
      (ready, heartbeat, changed, timeout) => {
        const node = { ready, heartbeatAtMs: heartbeat, readyChangedAtMs: changed };
        const decision = decidePodEviction(node, timeout, Math.min(heartbeat, changed));
        assert.ok(decision.kind === 'wait');
        assert.equal(decidePodEviction(node, timeout, decision.fromMs - 1).kind, 'wait');
        assert.equal(decidePodEviction(node, timeout, decision.fromMs).kind, 'evict');
      },
    ),
  );
});

test('a pod is kept for a DaemonSet of its own namespace that selects its labels, whatever its owner', () => {
  const daemonSets = [
    aDaemonSetView('other', 'elsewhere', { daemon: 'yes' }),
    aDaemonSetView('default', 'ds0', { daemon: 'yes' }),
  ];
  assert.deepEqual(decidePodFate(viewOf({ labels: { daemon: 'yes' } }), daemonSets), {
    fate: 'spared',
    daemonSet: 'ds0',
  });
  assert.deepEqual(decidePodFate(viewOf({ labels: { daemon: 'yes' } }), daemonSets.slice(0, 1)), { fate: 'deleted' });
  const owner = { apiVersion: 'apps/v1', kind: 'DaemonSet', name: 'ds0', uid: 'u-ds0' };
  assert.deepEqual(decidePodFate(viewOf({ ownerReferences: [owner] }), daemonSets), { fate: 'deleted' });
});

test('a pod that is already terminating is not deleted again, and its end is awaited', () => {
  assert.deepEqual(decidePodFate(viewOf({ deletionTimestamp: '2026-01-01T00:00:00Z' }), []), { fate: 'terminating' });
  assert.deepEqual(decidePodFate(viewOf({ deletionGracePeriodSeconds: 30 }), []), { fate: 'terminating' });
});

test('the reason is written to the status of that pod, and the deletion has its uid and keeps its grace period', () => {
  const pod = viewOf();
  assert.deepEqual(planRequest({ kind: 'mark-pod-lost', pod }), {
    verb: 'patch',
    resource: 'pods',
    namespace: 'default',
    name: 'p',
    subresource: 'status',
    body: {
      metadata: { uid: 'u-p', resourceVersion: '3' },
      status: { reason: 'NodeLost', message: 'Node n which was running pod p is unresponsive' },
    },
  });
  assert.deepEqual(planRequest({ kind: 'delete-pod', pod }), {
    verb: 'delete',
    resource: 'pods',
    namespace: 'default',
    name: 'p',
    options: { uid: 'u-p' },
  });
});
