import assert from 'node:assert/strict';
import { test } from 'node:test';
import { describeDecision } from '../../../../src/controller/decision-log/describe-decision.ts';
import type { Decision } from '../../../../src/controller/model/decisions.ts';

const node = 'n1';
const pod = 'default/p';

const rows: readonly (readonly [Decision, string])[] = [
  [{ kind: 'node-registered', node, zone: 'r/a' }, 'node n1: registered in zone r/a'],
  [{ kind: 'node-removed', node }, 'node n1: deleted'],
  [{ kind: 'node-uncovered', node }, 'node n1: had no deadline and was not queued; found by the resync'],
  [{ kind: 'node-ready', node, was: 'Unknown' }, 'node n1: Ready again (was Unknown)'],
  [
    { kind: 'node-not-ready', node, reason: 'KubeletNotReady' },
    'node n1: its kubelet reports Ready=False: KubeletNotReady',
  ],
  [
    { kind: 'node-recovered', node, boot: 'changed' },
    'node n1: no longer silent: its boot ID changed, the machine restarted',
  ],
  [
    { kind: 'confirmation-held', node, why: 'api-not-answering' },
    'node n1: looks silent, not confirmed: the API server did not answer the read of its lease',
  ],
  [
    { kind: 'silence-confirmed-by-cache', node, why: 'api-not-answering', heldMs: 60_000 },
    'node n1: lease not readable for 60s (api-not-answering); the cache is fresh and is used as evidence',
  ],
  [
    { kind: 'evaluation-resumed', staleMs: 21_500 },
    'node health evaluation resumed; the 22s gap is not counted against any node',
  ],
  [
    { kind: 'taint-queued', node, zone: 'r/a', key: 'node.kubernetes.io/unreachable', ahead: 2 },
    'node n1: added to the queue for node.kubernetes.io/unreachable:NoExecute in zone r/a, 2 ahead',
  ],
  [
    { kind: 'taint-withdrawn', node, why: 'zone-left' },
    'node n1: removed from the NoExecute taint queue (node changed its zone)',
  ],
  [{ kind: 'labels-set', node, labels: { a: '1', b: '2' } }, 'node n1: labels set: a=1, b=2'],
  [{ kind: 'pod-marked-not-ready', pod, node }, 'pod default/p marked not ready: its node n1 is not Ready'],
  [
    { kind: 'eviction-scheduled', pod, node, taint: 't', toleratedSeconds: 300, inMs: 300_000 },
    'pod default/p: eviction from n1 scheduled in 300s, it tolerates t for 300s',
  ],
  [
    { kind: 'eviction-cancelled', pod, node, why: 'taint-gone' },
    'pod default/p: eviction from n1 cancelled (taint-gone)',
  ],
  [
    { kind: 'eviction-held', pod, node, why: 'stale' },
    'pod default/p: eviction from n1 is due but held: the watch streams are stale (stale)',
  ],
  [
    { kind: 'eviction-hold-expired', pod, node, why: 'stale', next: 'evict' },
    'pod default/p: eviction from n1 was held for the maximum time (stale); after a live read of the node the pod is deleted',
  ],
  [
    { kind: 'pod-evicted', pod, node, taint: 't', toleratedSeconds: 0 },
    'pod default/p evicted from n1: it does not tolerate t',
  ],
  [
    { kind: 'eviction-refused', pod, node, why: 'budget', message: 'The disruption budget web needs 2' },
    'pod default/p: eviction from n1 is due but the Eviction API refuses it (budget): The disruption budget web needs 2',
  ],
  [
    { kind: 'eviction-wait-ended', pod, node, why: 'timeout', waitedMs: 600_000 },
    'pod default/p: deleted from n1 after the Eviction API refused it for 600s: the timeout is over',
  ],
  [
    { kind: 'terminated-pods-surplus', terminated: 12, threshold: 10 },
    '12 terminated pods, 2 more than the threshold of 10: the oldest are deleted, evicted ones first',
  ],
  [
    { kind: 'node-missing', node, pods: 3, quarantineMs: 40_000 },
    'node n1: not found, 3 pods are bound to it; they are deleted if it is still missing in 40s and the API server confirms it',
  ],
  [
    { kind: 'node-eviction-scheduled', node, ready: 'Unknown', inMs: 60_000, timeoutMs: 300_000 },
    'node n1: its pods are deleted in 60s if Ready is still Unknown (pod eviction timeout 300s)',
  ],
  [
    {
      kind: 'node-eviction-queued',
      node,
      zone: 'r/a',
      ready: 'False',
      unreadyMs: 310_000,
      timeoutMs: 300_000,
      ahead: 0,
    },
    'node n1: added to the pod deletion queue of zone r/a, 0 ahead: Ready=False for 310s (pod eviction timeout 300s)',
  ],
  [
    { kind: 'node-eviction-withdrawn', node, why: 'not-due' },
    'node n1: deletion of its pods cancelled (a heartbeat was received, the timeout starts again)',
  ],
  [
    { kind: 'node-evicted', node, zone: 'r/a', leaving: 4, spared: 2, terminating: 1 },
    'node n1: deleting its pods: 4 to delete, 2 of DaemonSets kept, 1 already terminating',
  ],
  [
    { kind: 'pod-spared', pod, node, daemonSet: 'kube-system/cni' },
    'pod default/p kept on n1: DaemonSet kube-system/cni selects it',
  ],
  [
    { kind: 'write-failed', write: 'patch', subject: 'node n1', reason: 'conflict' },
    'patch of node n1 failed (conflict); evaluated again, and repeated if still needed',
  ],
  [
    { kind: 'evaluation-failed', stage: 'health', subject: 'node n1', message: 'boom' },
    'evaluation of node n1 failed (health), a defect of this controller; retrying: boom',
  ],
];

for (const [decision, text] of rows) {
  test(`${decision.kind} as text`, () => assert.equal(describeDecision(decision), text));
}
