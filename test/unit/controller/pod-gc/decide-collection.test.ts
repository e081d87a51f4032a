import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { type PodView, transformPod } from '../../../../src/machinery/api/pod.ts';
import {
  decideCollection,
  decideTerminated,
  fallsUnder,
  mustFailFirst,
  type NodeLookup,
} from '../../../../src/controller/pod-gc/decide-collection.ts';

const nowMs = 1_000_000_000;
const noNodes: NodeLookup = () => undefined;

function aPod(name: string, over: Partial<PodView> = {}): PodView {
  return { ...transformPod({ metadata: { namespace: 'default', name, uid: `uid-${name}` } }), nodeName: 'n', ...over };
}

function names(pods: readonly PodView[]): readonly string[] {
  return pods.map((pod) => pod.name);
}

test('the view keeps what the collector needs: the reason of a status and the grace period of a deletion', () => {
  const metadata = { name: 'p', deletionTimestamp: '2026-01-02T03:04:05Z', deletionGracePeriodSeconds: 0 };
  const view = transformPod({ metadata, status: { phase: 'Failed', reason: 'Evicted' } });
  assert.deepEqual([view.reason, view.terminating, view.deletionGraceSeconds], ['Evicted', true, 0]);
  const plain = transformPod({ metadata: { name: 'p' } });
  assert.deepEqual([plain.reason, plain.terminating, plain.deletionGraceSeconds], ['', false, undefined]);
});

test('terminated: the surplus is deleted, evicted pods first, then by age, name and namespace', () => {
  const pods = [
    aPod('young', { phase: 'Succeeded', createdAtSeconds: 9 }),
    aPod('b', { phase: 'Failed', createdAtSeconds: 5 }),
    aPod('a', { phase: 'Failed', createdAtSeconds: 5, namespace: 'zoo' }),
    aPod('a', { phase: 'Succeeded', createdAtSeconds: 5, namespace: 'ant' }),
    aPod('evicted', { phase: 'Failed', reason: 'Evicted', createdAtSeconds: 10 }),
    // The reason alone is not enough: only a failed pod was evicted.
    aPod('said-so', { phase: 'Succeeded', reason: 'Evicted', createdAtSeconds: 20 }),
    aPod('strange', { phase: 'Hovering', createdAtSeconds: 1 }),
  ];
  const { terminated, pods: order } = decideTerminated(pods, { terminatedPodGcThreshold: 1 }, nowMs);
  assert.equal(terminated, 7);
  const seen = order.map((pod) => `${pod.namespace}/${pod.name}`);
  assert.deepEqual(seen, ['default/evicted', 'default/strange', 'ant/a', 'zoo/a', 'default/b', 'default/young']);
});

test('terminated: at the threshold nothing is deleted, and 0 or less keeps everything', () => {
  const pods = [aPod('a', { phase: 'Failed' }), aPod('b', { phase: 'Succeeded' }), aPod('c', { phase: 'Running' })];
  assert.deepEqual(names(decideTerminated(pods, { terminatedPodGcThreshold: 2 }, nowMs).pods), []);
  assert.deepEqual(names(decideTerminated(pods, { terminatedPodGcThreshold: 1 }, nowMs).pods), ['a']);
  assert.deepEqual(names(decideTerminated(pods, { terminatedPodGcThreshold: 0 }, nowMs).pods), []);
  assert.deepEqual(names(decideTerminated(pods, { terminatedPodGcThreshold: -1 }, nowMs).pods), []);
});

test('terminated: pods that completed too long ago, and the oldest beyond the number of their node', () => {
  const at = (secondsAgo: number): number => nowMs / 1_000 - secondsAgo;
  const done = { phase: 'Succeeded', createdAtSeconds: at(9_000) };
  const pods = [
    aPod('old', { ...done, completedAtSeconds: at(3_600) }),
    aPod('recent', { ...done, completedAtSeconds: at(3_599) }),
    aPod('unknown', { phase: 'Failed', createdAtSeconds: at(3_601) }),
    // The clock of its kubelet is wrong: it did not complete before it was created.
    aPod('wrong', { phase: 'Failed', createdAtSeconds: at(60), completedAtSeconds: at(90_000) }),
    aPod('runs', { phase: 'Running', createdAtSeconds: at(9_000) }),
  ];
  const age = { terminatedPodGcThreshold: 0, terminatedPodGcAgeMs: 3_600_000 };
  assert.deepEqual(names(decideTerminated(pods, age, nowMs).pods), ['old', 'unknown']);
  const both = { ...age, terminatedPodGcPerNode: 1 };
  const decided = decideTerminated([...pods, aPod('elsewhere', { ...done, nodeName: 'm' })], both, nowMs);
  assert.deepEqual(names(decided.pods), ['elsewhere', 'old', 'recent', 'unknown']);
  assert.deepEqual(decided.beyond, { threshold: 0, perNode: 1, age: 3 });
  const unbound = [aPod('a', { ...done, nodeName: '' }), aPod('b', { ...done, nodeName: '' })];
  const perNode = { terminatedPodGcThreshold: 0, terminatedPodGcPerNode: 1 };
  assert.deepEqual(names(decideTerminated(unbound, perNode, nowMs).pods), []);
});

test('terminated: whatever the limits, exactly the pods go that one of them does not keep', () => {
  const seconds = nowMs / 1_000;
  const arbitraryPod = fc.record({
    phase: fc.constantFrom('Running', 'Succeeded', 'Failed'),
    nodeName: fc.constantFrom('a', 'b', ''),
    createdAtSeconds: fc.integer({ min: seconds - 100, max: seconds }),
    completedAtSeconds: fc.integer({ min: seconds - 100, max: seconds }),
  });
  const limits = fc.record({
    terminatedPodGcThreshold: fc.nat(6),
    terminatedPodGcPerNode: fc.nat(4),
    terminatedPodGcAgeMs: fc.option(fc.integer({ min: 1, max: 100_000 }), { nil: undefined }),
  });
  fc.assert(
    fc.property(fc.array(arbitraryPod, { maxLength: 12 }), limits, (shapes, options) => {
      const pods = shapes.map((shape, index) => aPod(`p${index}`, shape));
      const gone = decideTerminated(pods, options, nowMs).pods;
      const kept = pods.filter((pod) => pod.phase !== 'Running' && !gone.includes(pod));
      const { terminatedPodGcThreshold: threshold, terminatedPodGcPerNode: perNode, terminatedPodGcAgeMs } = options;
      const isOld = (pod: PodView): boolean =>
        terminatedPodGcAgeMs !== undefined &&
        nowMs - Math.max(pod.completedAtSeconds ?? 0, pod.createdAtSeconds) * 1_000 >= terminatedPodGcAgeMs;
      const onNode = (node: string): number => kept.filter(({ nodeName }) => nodeName === node).length;
      assert.ok(gone.every(({ phase }) => phase !== 'Running'));
      assert.equal(kept.some(isOld), false);
      if (perNode > 0) assert.ok(['a', 'b'].every((node) => onNode(node) <= perNode));
      if (threshold > 0) assert.ok(kept.length <= threshold);
      // Each that goes exceeds a limit: with one of the others back, one of them would not be kept.
      const isFull = (node: string): boolean => perNode > 0 && node !== '' && onNode(node) >= perNode;
      const isAll = threshold > 0 && kept.length >= threshold;
      assert.ok(gone.every((pod) => isOld(pod) || isFull(pod.nodeName) || isAll));
    }),
  );
});

test('an unknown phase is terminated for the threshold only: it may run', () => {
  const old = { createdAtSeconds: 1 };
  const pods = [aPod('strange', { ...old, phase: 'Hovering' }), aPod('none', { ...old, phase: '' })];
  const both = { terminatedPodGcThreshold: 0, terminatedPodGcAgeMs: 1, terminatedPodGcPerNode: 1 };
  assert.deepEqual(names(decideTerminated(pods, both, nowMs).pods), []);
  assert.deepEqual(names(decideTerminated(pods, { terminatedPodGcThreshold: 1 }, nowMs).pods).length, 1);
});

test('the view has the time of the last transition of a completed pod: one that never was Ready shows it elsewhere', () => {
  const status = (phase: string): NonNullable<Parameters<typeof transformPod>[0]['status']> => ({
    phase,
    conditions: [
      { type: 'PodReadyToStartContainers', status: 'False', lastTransitionTime: '2026-01-02T03:04:05Z' },
      { type: 'Ready', status: 'False', lastTransitionTime: '2025-12-30T00:00:00Z' },
    ],
  });
  const at = Date.parse('2026-01-02T03:04:05Z') / 1_000;
  assert.equal(transformPod({ metadata: { name: 'p' }, status: status('Succeeded') }).completedAtSeconds, at);
  assert.equal('completedAtSeconds' in transformPod({ metadata: { name: 'p' }, status: status('Running') }), false);
});

test('terminated: never a running pod, never below the threshold, and always the first in order', () => {
  const arbitraryPod = fc.record({
    phase: fc.constantFrom('Pending', 'Running', 'Unknown', 'Succeeded', 'Failed'),
    reason: fc.constantFrom('', 'Evicted'),
    createdAtSeconds: fc.nat(5),
  });
  fc.assert(
    fc.property(fc.array(arbitraryPod, { maxLength: 30 }), fc.integer({ min: 1, max: 12 }), (overs, threshold) => {
      const pods = overs.map((over, i) => aPod(`p${i}`, over));
      const finished = pods.filter(({ phase }) => phase === 'Succeeded' || phase === 'Failed');
      const { pods: gone } = decideTerminated(pods, { terminatedPodGcThreshold: threshold }, nowMs);
      const kept = finished.filter((pod) => !gone.includes(pod));
      assert.ok(gone.every((pod) => finished.includes(pod)));
      assert.equal(kept.length, Math.min(finished.length, threshold));
      const rank = ({ phase, reason, createdAtSeconds }: PodView): number =>
        (phase === 'Failed' && reason === 'Evicted' ? 0 : 100) + createdAtSeconds;
      for (const stays of kept) for (const goes of gone) assert.ok(rank(goes) <= rank(stays));
    }),
  );
});

test('out of service: terminating, on an existing node that is not Ready and has the taint key, with any effect', () => {
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

test('orphaned: bound to a node that does not exist; unscheduled: terminating without ever having been bound', () => {
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

test('a pod held by finalizers alone is counted, but not deleted again', () => {
  const held = { phase: 'Failed', terminating: true, deletionGraceSeconds: 0 } as const;
  assert.ok(!fallsUnder('orphaned', aPod('held', held), noNodes));
  assert.ok(!fallsUnder('unscheduled', aPod('held', { ...held, nodeName: '' }), noNodes));
  // Still waiting for a kubelet that does not exist, or not marked Failed yet: a deletion has an effect.
  assert.ok(fallsUnder('orphaned', aPod('waiting', { ...held, deletionGraceSeconds: 30 }), noNodes));
  assert.ok(fallsUnder('orphaned', aPod('running', { ...held, phase: 'Running' }), noNodes));
  const surplus = decideTerminated(
    [aPod('held', held), aPod('other', { phase: 'Failed', createdAtSeconds: 9 })],
    { terminatedPodGcThreshold: 1 },
    nowMs,
  );
  assert.deepEqual([surplus.terminated, surplus.pods], [2, []]);
});

test('only Succeeded and Failed are final', () => {
  const failing = ['', 'Pending', 'Running', 'Unknown', 'Hovering'];
  for (const phase of failing) assert.ok(mustFailFirst({ phase }), phase);
  for (const phase of ['Succeeded', 'Failed']) assert.ok(!mustFailFirst({ phase }), phase);
});
