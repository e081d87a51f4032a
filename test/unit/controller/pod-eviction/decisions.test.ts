import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { type DaemonSetView, viewDaemonSet } from '../../../../src/api/daemonset.ts';
import { type Pod, type PodView, viewPod } from '../../../../src/api/pod.ts';
import { decidePodEviction } from '../../../../src/controller/pod-eviction/decide-pod-eviction.ts';
import { decidePodFate } from '../../../../src/controller/pod-eviction/decide-pod-fate.ts';
import { planRequest } from '../../../../src/controller/writer/plan-request.ts';

const timeoutMs = 600_000;

function aPod(labels: Record<string, string> = {}, metadata: Partial<Pod['metadata']> = {}): PodView {
  const identity = { namespace: 'default', name: 'p', uid: 'u-p', resourceVersion: '3' };
  return viewPod({ metadata: { ...identity, labels, ...metadata }, spec: { nodeName: 'n' }, status: {} });
}

function aDaemonSet(namespace: string, name: string, matchLabels: Record<string, string>): DaemonSetView {
  return viewDaemonSet({ metadata: { namespace, name, uid: `u-${name}` }, spec: { selector: { matchLabels } } });
}

test('a node that says False is counted from the change of its Ready condition, heartbeats or not', () => {
  const node = { ready: 'False', heardAtMs: 590_000, readyChangedAtMs: 0 };
  assert.deepEqual(decidePodEviction(node, timeoutMs, 600_000), { kind: 'wait', fromMs: 600_001 });
  assert.deepEqual(decidePodEviction(node, timeoutMs, 600_001), { kind: 'evict', unreadyMs: 600_001 });
});

test('a silent node is counted from its last sign of life, whenever it became Unknown', () => {
  const node = { ready: 'Unknown', heardAtMs: 0, readyChangedAtMs: 40_000 };
  assert.deepEqual(decidePodEviction(node, timeoutMs, 560_000), { kind: 'wait', fromMs: 600_001 });
  assert.deepEqual(decidePodEviction(node, timeoutMs, 600_001), { kind: 'evict', unreadyMs: 600_001 });
});

test('a Ready node is never evicted, and one without a known answer neither begins nor ends anything', () => {
  assert.equal(decidePodEviction({ ready: 'True', heardAtMs: 0, readyChangedAtMs: 0 }, timeoutMs, 1e9).kind, 'cancel');
  for (const ready of ['missing', 'Perhaps', ''])
    assert.equal(decidePodEviction({ ready, heardAtMs: 0, readyChangedAtMs: 0 }, timeoutMs, 1e9).kind, 'undecided');
});

test('law: the announced moment is the first one at which the node is evicted', () => {
  const times = fc.nat(10_000_000);
  fc.assert(
    fc.property(
      fc.constantFrom('False', 'Unknown'),
      times,
      times,
      fc.nat(1_000_000),
      (ready, heard, changed, timeout) => {
        const node = { ready, heardAtMs: heard, readyChangedAtMs: changed };
        const decision = decidePodEviction(node, timeout, Math.min(heard, changed));
        assert.ok(decision.kind === 'wait');
        assert.equal(decidePodEviction(node, timeout, decision.fromMs - 1).kind, 'wait');
        assert.equal(decidePodEviction(node, timeout, decision.fromMs).kind, 'evict');
      },
    ),
  );
});

test('a pod is spared by a DaemonSet of its own namespace that selects its labels, whoever owns it', () => {
  const daemonSets = [
    aDaemonSet('other', 'elsewhere', { daemon: 'yes' }),
    aDaemonSet('default', 'ds0', { daemon: 'yes' }),
  ];
  assert.deepEqual(decidePodFate(aPod({ daemon: 'yes' }), daemonSets), { fate: 'spared', daemonSet: 'ds0' });
  assert.deepEqual(decidePodFate(aPod({ daemon: 'yes' }), daemonSets.slice(0, 1)), { fate: 'leaves' });
  const owner = { apiVersion: 'apps/v1', kind: 'DaemonSet', name: 'ds0', uid: 'u-ds0' };
  assert.deepEqual(decidePodFate(aPod({}, { ownerReferences: [owner] }), daemonSets), { fate: 'leaves' });
});

test('a pod that is terminating already is not deleted again, and remains to be waited for', () => {
  assert.deepEqual(decidePodFate(aPod({}, { deletionTimestamp: '2026-01-01T00:00:00Z' }), []), { fate: 'terminating' });
  assert.deepEqual(decidePodFate(aPod({}, { deletionGracePeriodSeconds: 30 }), []), { fate: 'terminating' });
});

test('the reason goes into the status of that very pod, and the deletion names it and leaves its grace alone', () => {
  const pod = aPod();
  assert.deepEqual(planRequest({ kind: 'mark-pod-lost', pod }), {
    verb: 'patch',
    resource: 'pods',
    namespace: 'default',
    name: 'p',
    subresource: 'status',
    body: {
      metadata: { uid: 'u-p' },
      status: { reason: 'NodeLost', message: 'Node n which was running pod p is unresponsive' },
    },
  });
  assert.deepEqual(planRequest({ kind: 'delete-pod', pod }), {
    verb: 'delete',
    resource: 'pods',
    namespace: 'default',
    name: 'p',
    uid: 'u-p',
  });
});
