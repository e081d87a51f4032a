import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Toleration } from '../../../src/api/tolerations.ts';
import { ControllerWorld } from '../../support/controller-world.ts';

const unreachable = 'node.kubernetes.io/unreachable';

function tolerating(seconds: number | undefined): readonly Toleration[] {
  const forSeconds = seconds === undefined ? {} : { tolerationSeconds: seconds };
  return [{ key: unreachable, operator: 'Exists', effect: 'NoExecute', ...forSeconds }];
}

/** Nine nodes in three zones that renew their leases, with the pods of the story on n0. */
function aCluster(): ControllerWorld {
  const world = new ControllerWorld();
  for (let i = 0; i < 9; i++) world.addNode(`n${i}`, { zone: `z${i % 3}` });
  world.renewing(...Array.from({ length: 9 }, (_, i) => `n${i}`));
  world.addPod('plain', 'n0');
  world.addPod('patient', 'n0', tolerating(30));
  world.addPod('for-ever', 'n0', tolerating(undefined));
  world.addPod('elsewhere', 'n1');
  return world;
}

test('a healthy quiet cluster costs no write at all', async () => {
  const world = aCluster();
  world.start();
  await world.advance(600);
  assert.deepEqual(world.writes, []);
  assert.equal(world.nodeEvents.drafts.filter(({ reason }) => reason === 'RegisteredNode').length, 9);
  assert.equal(world.nodeEvents.drafts.length, 9);
  await world.stop();
});

test('a node is judged when its grace period ends, not at the next monitor period', async () => {
  const world = aCluster();
  world.start();
  world.goDark('n0');
  await world.advance(50);
  assert.equal(
    world.ready('n0'),
    'True',
    'its last sign of life was at 0 s, so it was not silent for longer than 50 s',
  );
  await world.advance(0.2);
  assert.equal(world.ready('n0'), 'Unknown');
  await world.stop();
});

test('a dark node gets its conditions, both taints and an event, and its pods are marked and sent away in time', async () => {
  const world = aCluster();
  world.start();
  world.goDark('n0');
  await world.advance(52);
  const ready = world.node('n0').status?.conditions?.find(({ type }) => type === 'Ready');
  assert.equal(ready?.reason, 'NodeStatusUnknown');
  assert.equal(ready?.message, 'Kubelet stopped posting node status.');
  assert.deepEqual(
    world.node('n0').status?.conditions?.map(({ type, status, reason }) => [type, status, reason]),
    [
      ['Ready', 'Unknown', 'NodeStatusUnknown'],
      ['MemoryPressure', 'Unknown', 'NodeStatusUnknown'],
      ['DiskPressure', 'Unknown', 'NodeStatusNeverUpdated'],
      ['PIDPressure', 'Unknown', 'NodeStatusNeverUpdated'],
    ],
  );
  assert.deepEqual(world.taints('n0'), ['unreachable:NoExecute', 'unreachable:NoSchedule']);
  assert.deepEqual(world.evicted(), ['plain']);
  for (const pod of ['plain', 'patient', 'for-ever']) {
    assert.equal(world.pod(pod)?.status?.conditions?.find(({ type }) => type === 'Ready')?.status, 'False', pod);
  }
  await world.advance(40);
  assert.deepEqual(world.evicted(), ['plain', 'patient']);
  const waited = (world.evictedAtSeconds('patient') ?? 0) - (world.evictedAtSeconds('plain') ?? 0);
  assert.ok(waited >= 29.8 && waited <= 31.2, `patient left after ${waited} s`);
  assert.deepEqual(
    world.evictionEvents.drafts.map(({ message }) => message),
    ['Marking for deletion Pod default/plain', 'Marking for deletion Pod default/patient'],
  );
  assert.equal(
    world.nodeEvents.drafts.filter(({ reason, type }) => reason === 'NodeNotReady' && type === 'Normal').length,
    1,
  );
  assert.equal(
    world.nodeEvents.drafts.filter(({ reason, type }) => reason === 'NodeNotReady' && type === 'Warning').length,
    3,
  );
  await world.stop();
});

test('a node that comes back in time loses both taints and its pods stay', async () => {
  const world = aCluster();
  world.start();
  world.goDark('n0');
  await world.advance(60);
  world.renewing('n0');
  world.post('n0', 'True');
  await world.advance(1);
  assert.deepEqual(world.taints('n0'), []);
  await world.advance(120);
  assert.deepEqual(world.evicted(), ['plain']);
  const cancelled = world.evictionEvents.drafts.filter(({ message }) => message.startsWith('Cancelling'));
  assert.deepEqual(
    cancelled.map(({ message }) => message),
    ['Cancelling deletion of Pod default/patient'],
  );
  assert.equal(world.lifecycle.stages.evictor.scheduled().size, 0);
  await world.stop();
});

test('every decision says why', async () => {
  const world = aCluster();
  world.start();
  world.goDark('n0');
  await world.advance(52);
  const silent = world.decisions.find(({ decision }) => decision.kind === 'node-silent')?.decision;
  assert.ok(
    silent?.kind === 'node-silent' &&
      silent.rule === 'monitor' &&
      silent.graceMs === 50_000 &&
      silent.silentMs > 50_000,
  );
  const scheduled = world.decisions.find(({ decision }) => decision.kind === 'eviction-scheduled')?.decision;
  assert.ok(
    scheduled?.kind === 'eviction-scheduled' && scheduled.toleratedSeconds === 30 && scheduled.taint === unreachable,
  );
  assert.equal(world.meter.series.get('node_lifecycle_decisions_total{decision="node-silent"}'), 1);
  assert.equal(world.meter.series.get('node_collector_evictions_total{zone="r/z0"}'), 1);
  assert.ok(world.lifecycle.stages.decisions.of('n0').length > 0);
  assert.equal(
    world.logger.lines.some(({ message }) => message.includes('n0 is silent')),
    true,
  );
  await world.stop();
});

test('a kubelet that says itself that it is not ready is tainted not-ready, and its pods are left to it', async () => {
  const world = aCluster();
  world.start();
  await world.advance(1);
  world.post('n0', 'False');
  await world.advance(0.2);
  assert.deepEqual(world.taints('n0'), ['not-ready:NoSchedule'], 'NoExecute waits for the pass that counts the zone');
  await world.advance(5);
  assert.deepEqual(world.taints('n0'), ['not-ready:NoExecute', 'not-ready:NoSchedule']);
  assert.equal(world.pod('patient')?.status?.conditions?.find(({ type }) => type === 'Ready')?.status, 'True');
  await world.stop();
});

test('not-ready becomes unreachable in one write, never both, and the countdown goes on', async () => {
  const world = aCluster();
  world.addPod('both', 'n0', [{ operator: 'Exists', effect: 'NoExecute', tolerationSeconds: 100 }]);
  world.start();
  await world.advance(1);
  world.post('n0', 'False');
  await world.advance(5);
  assert.deepEqual(world.taints('n0'), ['not-ready:NoExecute', 'not-ready:NoSchedule']);
  const taintedAt = world.seconds();
  world.goDark('n0');
  await world.advance(60);
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
  await world.stop();
});

test('a node deleted while its pods have appointments: they are cancelled and the node is forgotten', async () => {
  const world = aCluster();
  world.start();
  world.goDark('n0');
  await world.advance(60);
  world.removeNode('n0');
  await world.advance(60);
  assert.deepEqual(world.evicted(), ['plain']);
  assert.equal(world.lifecycle.stages.health.get('n0'), undefined);
  assert.equal(world.nodeEvents.drafts.filter(({ reason }) => reason === 'RemovingNode').length, 1);
  await world.stop();
});

test('patience that shrinks brings the appointment forward; patience that grows does not move it', async () => {
  const world = aCluster();
  world.addPod('grows', 'n0', tolerating(20));
  world.addPod('shrinks', 'n0', tolerating(300));
  world.start();
  world.goDark('n0');
  await world.advance(52);
  world.changePod('grows', (pod) => ({ ...pod, spec: { ...pod.spec, tolerations: tolerating(300) } }));
  world.changePod('shrinks', (pod) => ({ ...pod, spec: { ...pod.spec, tolerations: tolerating(10) } }));
  await world.advance(10);
  assert.deepEqual(world.evicted(), ['plain', 'shrinks']);
  await world.advance(10);
  assert.deepEqual(world.evicted(), ['plain', 'shrinks', 'grows']);
  await world.stop();
});

test('a namesake is not evicted in the place of the pod that was decided upon', async () => {
  const world = aCluster();
  world.start();
  world.goDark('n0');
  await world.advance(60);
  world.removePod('patient');
  world.addPod('patient', 'n1');
  await world.advance(60);
  assert.deepEqual(world.evicted(), ['plain']);
  assert.equal(
    world.writes.filter(({ verb }) => verb === 'delete').every(({ uid }) => uid !== undefined),
    true,
  );
  await world.stop();
});

test('a pod that is being deleted already is not deleted again', async () => {
  const world = aCluster();
  world.addPod('going', 'n0', [], { deletionTimestamp: '2026-01-02T03:04:05Z' });
  world.start();
  world.goDark('n0');
  await world.advance(60);
  assert.deepEqual(world.evicted(), ['plain']);
  await world.stop();
});
