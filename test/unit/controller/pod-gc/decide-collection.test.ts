import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { type PodView, viewPod } from '../../../../src/api/pod.ts';
import {
  decideCollection,
  decideTerminated,
  fallsUnder,
  mustFailFirst,
  type NodeLookup,
} from '../../../../src/controller/pod-gc/decide-collection.ts';

const noNodes: NodeLookup = () => undefined;

function aPod(name: string, over: Partial<PodView> = {}): PodView {
  return { ...viewPod({ metadata: { namespace: 'default', name, uid: `uid-${name}` } }), nodeName: 'n', ...over };
}

function names(pods: readonly PodView[]): readonly string[] {
  return pods.map((pod) => pod.name);
}

test('a view keeps what the collector asks for: the reason of a status and the grace of a deletion', () => {
  const metadata = { name: 'p', deletionTimestamp: '2026-01-02T03:04:05Z', deletionGracePeriodSeconds: 0 };
  const view = viewPod({ metadata, status: { phase: 'Failed', reason: 'Evicted' } });
  assert.deepEqual([view.reason, view.terminating, view.deletionGraceSeconds], ['Evicted', true, 0]);
  const plain = viewPod({ metadata: { name: 'p' } });
  assert.deepEqual([plain.reason, plain.terminating, plain.deletionGraceSeconds], ['', false, undefined]);
});

test('terminated: the surplus goes, evicted pods first, then by age, name and namespace', () => {
  const pods = [
    aPod('young', { phase: 'Succeeded', createdAtMs: 9 }),
    aPod('b', { phase: 'Failed', createdAtMs: 5 }),
    aPod('a', { phase: 'Failed', createdAtMs: 5, namespace: 'zoo' }),
    aPod('a', { phase: 'Succeeded', createdAtMs: 5, namespace: 'ant' }),
    aPod('evicted', { phase: 'Failed', reason: 'Evicted', createdAtMs: 10 }),
    // The word alone is not enough: only a failed pod was evicted.
    aPod('said-so', { phase: 'Succeeded', reason: 'Evicted', createdAtMs: 20 }),
    aPod('strange', { phase: 'Hovering', createdAtMs: 1 }),
  ];
  const { terminated, pods: order } = decideTerminated(pods, 1);
  assert.equal(terminated, 7);
  assert.deepEqual(
    order.map((pod) => `${pod.namespace}/${pod.name}`),
    ['default/evicted', 'default/strange', 'ant/a', 'zoo/a', 'default/b', 'default/young'],
  );
});

test('terminated: at the threshold nothing goes, and 0 or less keeps everything', () => {
  const pods = [aPod('a', { phase: 'Failed' }), aPod('b', { phase: 'Succeeded' }), aPod('c', { phase: 'Running' })];
  assert.deepEqual(names(decideTerminated(pods, 2).pods), []);
  assert.deepEqual(names(decideTerminated(pods, 1).pods), ['a']);
  assert.deepEqual(names(decideTerminated(pods, 0).pods), []);
  assert.deepEqual(names(decideTerminated(pods, -1).pods), []);
});

test('terminated: never one that lives, never below the threshold, and none that stays is due before one that goes', () => {
  const arbitraryPod = fc.record({
    phase: fc.constantFrom('Pending', 'Running', 'Unknown', 'Succeeded', 'Failed'),
    reason: fc.constantFrom('', 'Evicted'),
    createdAtMs: fc.nat(5),
  });
  fc.assert(
    fc.property(fc.array(arbitraryPod, { maxLength: 30 }), fc.integer({ min: 1, max: 12 }), (overs, threshold) => {
      const pods = overs.map((over, i) => aPod(`p${i}`, over));
      const finished = pods.filter(({ phase }) => phase === 'Succeeded' || phase === 'Failed');
      const { pods: gone } = decideTerminated(pods, threshold);
      const kept = finished.filter((pod) => !gone.includes(pod));
      assert.ok(gone.every((pod) => finished.includes(pod)));
      assert.equal(kept.length, Math.min(finished.length, threshold));
      const rank = ({ phase, reason, createdAtMs }: PodView): number =>
        (phase === 'Failed' && reason === 'Evicted' ? 0 : 100) + createdAtMs;
      for (const stays of kept) for (const goes of gone) assert.ok(rank(goes) <= rank(stays));
    }),
  );
});

test('out of service: terminating, on a known node that is not Ready and carries the key, whatever its effect', () => {
  const node = (ready: string | undefined, key = 'node.kubernetes.io/out-of-service', effect = 'NoExecute') => ({
    conditions: ready === undefined ? [] : [{ type: 'Ready', status: ready }],
    taints: [{ key, effect, value: 'nodeshutdown' }],
  });
  const falls = (pod: PodView, standing: ReturnType<typeof node> | undefined): boolean =>
    fallsUnder('out-of-service', pod, () => standing);
  const leaving = aPod('p', { terminating: true, phase: 'Running' });
  for (const ready of ['False', 'Unknown', undefined]) assert.ok(falls(leaving, node(ready)), `Ready ${ready}`);
  assert.ok(falls(leaving, node('False', undefined, 'NoSchedule')));
  assert.ok(!falls(leaving, node('True')));
  assert.ok(!falls(leaving, node('False', 'node.kubernetes.io/unreachable')));
  assert.ok(!falls(leaving, undefined));
  assert.ok(!falls(aPod('p', { terminating: false }), node('False')));
});

test('orphaned is who is bound to a node that is not known; unscheduled is who leaves without ever having been bound', () => {
  const only: NodeLookup = (name) => (name === 'known' ? { conditions: [], taints: [] } : undefined);
  const pods = [
    aPod('here', { nodeName: 'known', terminating: true }),
    aPod('orphan', { nodeName: 'gone' }),
    aPod('pending', { nodeName: '' }),
    aPod('never-bound', { nodeName: '', terminating: true }),
  ];
  assert.deepEqual(names(decideCollection('orphaned', pods, only)), ['orphan']);
  assert.deepEqual(names(decideCollection('unscheduled', pods, only)), ['never-bound']);
  assert.deepEqual(names(decideCollection('out-of-service', pods, only)), []);
});

test('who is held by finalizers alone is left to them: counted, but not deleted again', () => {
  const held = { phase: 'Failed', terminating: true, deletionGraceSeconds: 0 } as const;
  assert.ok(!fallsUnder('orphaned', aPod('held', held), noNodes));
  assert.ok(!fallsUnder('unscheduled', aPod('held', { ...held, nodeName: '' }), noNodes));
  // Still waiting for a kubelet that is not there, or not yet said to have failed: there is something left to do.
  assert.ok(fallsUnder('orphaned', aPod('waiting', { ...held, deletionGraceSeconds: 30 }), noNodes));
  assert.ok(fallsUnder('orphaned', aPod('running', { ...held, phase: 'Running' }), noNodes));
  const surplus = decideTerminated([aPod('held', held), aPod('other', { phase: 'Failed', createdAtMs: 9 })], 1);
  assert.deepEqual([surplus.terminated, surplus.pods], [2, []]);
});

test('only Succeeded and Failed are last words', () => {
  const failing = ['', 'Pending', 'Running', 'Unknown', 'Hovering'];
  for (const phase of failing) assert.ok(mustFailFirst({ phase }), phase);
  for (const phase of ['Succeeded', 'Failed']) assert.ok(!mustFailFirst({ phase }), phase);
});
