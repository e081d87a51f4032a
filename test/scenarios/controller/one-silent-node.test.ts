import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Toleration } from '../../../src/machinery/api/tolerations.ts';
import { describeDecision } from '../../../src/controller/decision-log/describe-decision.ts';
import type { ControllerWorld } from '../../support/controller-world.ts';
import { aWorldOf } from '../../support/zoned-world.ts';

const unreachable = 'node.kubernetes.io/unreachable';

function tolerating(seconds: number | undefined): readonly Toleration[] {
  const forSeconds = seconds === undefined ? {} : { tolerationSeconds: seconds };
  return [{ key: unreachable, operator: 'Exists', effect: 'NoExecute', ...forSeconds }];
}

/** Nine nodes in three zones that renew their leases, with the pods of the story on n0. */
function aCluster(): ControllerWorld {
  const world = aWorldOf(9, 3);
  world.addPod('plain', 'n0');
  world.addPod('patient', 'n0', tolerating(30));
  world.addPod('for-ever', 'n0', tolerating(undefined));
  world.addPod('elsewhere', 'n1');
  return world;
}

test('an idle healthy cluster causes no write at all', async () => {
  await using world = await aCluster().running(600);
  assert.deepEqual(world.writes, []);
  assert.equal(world.nodeEventsOf('RegisteredNode').length, 9);
  assert.equal(world.nodeEvents.drafts.length, 9);
});

test('a node is evaluated when its grace period ends, not at the next monitor period', async () => {
  await using world = aCluster().start();
  await world.silentFor(50, 'n0');
  const actual = world.ready('n0');
  assert.equal(actual, 'True', 'its last sign of life was at 0 s, so it was not silent for longer than 50 s');
  await world.advance(0.2);
  assert.equal(world.ready('n0'), 'Unknown');
});

test('a silent node gets its conditions, both taints and an Event, and its pods are marked and evicted in time', async () => {
  await using world = aCluster().start();
  await world.silentFor(52, 'n0');
  assert.equal(world.node('n0').status?.conditions?.[0]?.message, 'Kubelet stopped posting node status.');
  const seen = world.node('n0').status?.conditions?.map(({ type, status, reason }) => [type, status, reason]);
  assert.deepEqual(seen, [
    ['Ready', 'Unknown', 'NodeStatusUnknown'],
    ['MemoryPressure', 'Unknown', 'NodeStatusUnknown'],
    ['DiskPressure', 'Unknown', 'NodeStatusNeverUpdated'],
    ['PIDPressure', 'Unknown', 'NodeStatusNeverUpdated'],
  ]);
  assert.deepEqual(world.taints('n0'), ['unreachable:NoExecute', 'unreachable:NoSchedule']);
  assert.deepEqual(world.evicted(), ['plain']);
  for (const pod of ['plain', 'patient', 'for-ever']) {
    assert.equal(world.podReady(pod), 'False', pod);
  }
  await world.advance(40);
  assert.deepEqual(world.evicted(), ['plain', 'patient']);
  const waited = (world.evictedAtSeconds('patient') ?? 0) - (world.evictedAtSeconds('plain') ?? 0);
  assert.ok(waited >= 29.8 && waited <= 31.2, `patient left after ${waited} s`);
  const marking = ['plain', 'patient'].map((pod) => `Marking for deletion Pod default/${pod}`);
  assert.deepEqual(world.evictionMessages(), marking);
  const notReady = world.nodeEvents.drafts.filter(({ reason }) => reason === 'NodeNotReady').map(({ type }) => type);
  assert.deepEqual(notReady.toSorted(), ['Normal', 'Warning', 'Warning', 'Warning']);
});

test('a node that recovers in time loses both taints and keeps its pods', async () => {
  await using world = aCluster().start();
  await world.silentFor(60, 'n0');
  world.recover('n0');
  await world.advance(1);
  assert.deepEqual(world.taints('n0'), []);
  await world.advance(120);
  assert.deepEqual(world.evicted(), ['plain']);
  const cancelled = world.evictionMessages().filter((message) => message.startsWith('Cancelling'));
  assert.deepEqual(cancelled, ['Cancelling deletion of Pod default/patient']);
  assert.equal(world.lifecycle.stages.evictor.scheduled().size, 0);
});

test('a cluster is quiet while all nodes are Ready, and not from the moment on at which one may be silent', async () => {
  await using world = aCluster().start();
  await world.silentFor(49, 'n0');
  assert.equal(world.lifecycle.isQuiet(), true);
  world.answersAfterMs = 2_000;
  await world.advance(2);
  assert.equal(world.ready('n0'), 'True');
  assert.equal(world.lifecycle.isQuiet(), false, 'its lease is being read');
  const release = world.holdLane('detection');
  await world.advance(10);
  assert.equal(world.ready('n0'), 'True');
  assert.equal(world.lifecycle.isQuiet(), false, 'its status waits to be written');
  release();
  await world.advance(120);
  assert.deepEqual(world.evicted(), ['plain', 'patient']);
  assert.equal(world.lifecycle.isQuiet(), false, 'it is Unknown');
  world.recover('n0');
  await world.advance(5);
  assert.equal(world.lifecycle.isQuiet(), true);
});

test('a node that is removed while it is Unknown keeps nothing from being quiet', async () => {
  await using world = aCluster().start();
  await world.silentFor(60, 'n0');
  assert.equal(world.lifecycle.isQuiet(), false);
  world.removeNode('n0');
  await world.advance(5);
  assert.equal(world.lifecycle.isQuiet(), true);
});

test('every decision has its reason', async () => {
  await using world = aCluster().start();
  await world.silentFor(52, 'n0');
  const [silent] = world.decided('node-silent');
  assert.ok(silent?.rule === 'monitor' && silent.graceMs === 50_000 && silent.silentMs > 50_000);
  const [scheduled] = world.decided('eviction-scheduled');
  assert.deepEqual([scheduled?.toleratedSeconds, scheduled?.taint], [30, unreachable]);
  assert.equal(world.meter.series.get('node_lifecycle_decisions_total{decision="node-silent"}'), 1);
  assert.equal(world.meter.series.get('node_collector_evictions_total{zone="r/z0"}'), 1);
  assert.ok(world.lifecycle.stages.decisions.of('n0').length > 0);
  const line = world.logger.lines.find(({ fields }) => fields['decision'] === 'node-silent');
  assert.equal(line?.fields['node'], 'n0');
  assert.equal(line.message, 'node lease and status not renewed within the grace period');
});

test('a node whose kubelet reports Ready=False is tainted not-ready, and its pods are not marked', async () => {
  await using world = await aCluster().running(1);
  world.post('n0', 'False');
  await world.advance(0.2);
  assert.deepEqual(world.taints('n0'), ['not-ready:NoSchedule'], 'NoExecute waits for the pass that counts the zone');
  await world.advance(5);
  assert.deepEqual(world.taints('n0'), ['not-ready:NoExecute', 'not-ready:NoSchedule']);
  assert.equal(world.podReady('patient'), 'True');
});

test('not-ready becomes unreachable in one write, never both, and the countdown continues', async () => {
  await using world = aCluster();
  world.addPod('both', 'n0', [{ operator: 'Exists', effect: 'NoExecute', tolerationSeconds: 100 }]);
  await world.running(1);
  world.post('n0', 'False');
  await world.advance(5);
  assert.deepEqual(world.taints('n0'), ['not-ready:NoExecute', 'not-ready:NoSchedule']);
  const taintedAt = world.seconds();
  await world.silentFor(60, 'n0');
  assert.deepEqual(world.taints('n0'), ['unreachable:NoExecute', 'unreachable:NoSchedule']);
  for (const write of world.writes) {
    const taints =
      (write.body as { spec?: { taints?: { key: string; effect: string }[] } } | undefined)?.spec?.taints ?? [];
    const health = taints.filter(({ effect }) => effect === 'NoExecute');
    assert.ok(health.length <= 1, JSON.stringify(taints));
  }
  await world.advance(60);
  const leftAfter = (world.evictedAtSeconds('both') ?? Infinity) - taintedAt;
  assert.ok(leftAfter > 98 && leftAfter < 102, `left after ${leftAfter} s`);
});

test('a node deleted while evictions of its pods are scheduled: they are cancelled and the node is dropped', async () => {
  await using world = aCluster().start();
  await world.silentFor(60, 'n0');
  world.removeNode('n0');
  await world.advance(60);
  assert.deepEqual(world.evicted(), ['plain']);
  assert.equal(world.lifecycle.stages.health.get('n0'), undefined);
  assert.equal(world.nodeEventsOf('RemovingNode').length, 1);
  const lines = [...world.decided('node-registered').slice(0, 1), ...world.decided('node-removed')].map(
    describeDecision,
  );
  assert.deepEqual(lines, ['node n0: registered in zone r/z0', 'node n0: deleted']);
});

test('a shorter toleration moves the eviction to an earlier time; a longer one does not move it', async () => {
  await using world = aCluster();
  world.addPod('grows', 'n0', tolerating(20));
  world.addPod('shrinks', 'n0', tolerating(300));
  await world.start().silentFor(52, 'n0');
  world.changePod('grows', (pod) => ({ ...pod, spec: { ...pod.spec, tolerations: tolerating(300) } }));
  world.changePod('shrinks', (pod) => ({ ...pod, spec: { ...pod.spec, tolerations: tolerating(10) } }));
  await world.advance(10);
  assert.deepEqual(world.evicted(), ['plain', 'shrinks']);
  await world.advance(10);
  assert.deepEqual(world.evicted(), ['plain', 'shrinks', 'grows']);
});

test('a new pod of the same name is not evicted in place of the pod that was evaluated', async () => {
  await using world = aCluster().start();
  await world.silentFor(60, 'n0');
  world.removePod('patient');
  world.addPod('patient', 'n1');
  await world.advance(60);
  assert.deepEqual(world.evicted(), ['plain']);
  assert.ok(world.writes.every(({ verb, uid }) => verb !== 'delete' || uid !== undefined));
});

test('a pod that is already terminating is not deleted again', async () => {
  await using world = aCluster();
  world.addPod('going', 'n0', [], { deletionTimestamp: '2026-01-02T03:04:05Z' });
  await world.start().silentFor(60, 'n0');
  assert.deepEqual(world.evicted(), ['plain']);
});
