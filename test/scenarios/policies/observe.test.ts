// Mode Observe: nodes are evaluated and reported, and nothing is written for them and their pods.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { aPolicy } from '../../support/builders.ts';
import { ControllerWorld } from '../../support/controller-world.ts';
import { aZonedWorld } from '../../support/zoned-world.ts';

const observing = aPolicy({ name: 'watched', mode: 'Observe' });
const notReady = { key: 'node.kubernetes.io/not-ready', effect: 'NoExecute' };
const unreachable = { key: 'node.kubernetes.io/unreachable', effect: 'NoExecute' };

/** Names of the nodes and pods that were written. */
function written(world: ControllerWorld): readonly string[] {
  return [...new Set(world.writes.map(({ name }) => name))].sort();
}

function withheld(world: ControllerWorld, node: string): readonly string[] {
  return world
    .decided('act-withheld')
    .filter((decision) => decision.node === node)
    .map(({ act }) => act);
}

test('a silent node of the policy is reported and not written, and its neighbour of another policy is', async () => {
  await using world = aZonedWorld({ a: 4, b: 4 }, { policies: [observing] });
  world.addPod('pod-a', 'a-0');
  world.addPod('pod-b', 'b-0');
  await world.start().silentFor(600, 'a-0', 'b-0');
  assert.deepEqual(written(world), ['b-0', 'pod-b']);
  assert.deepEqual(withheld(world, 'a-0'), ['mark-unknown']);
  const counted = world.meter.read().get('node_lifecycle_withheld_acts_total{policy="watched",act="mark-unknown"}');
  assert.equal(counted, 1);
  assert.equal(world.meter.read().get('node_lifecycle_unnoticed_silent_nodes'), 0, 'a hold explains it');
  assert.equal(world.lifecycle.stages.zones.plan('r/a')?.why.unready, 1, 'it counts for its zone');
});

test('each episode is reported once', async () => {
  await using world = aZonedWorld({ a: 4, b: 4 }, { policies: [observing] }).start();
  await world.silentFor(300, 'a-0');
  world.recover('a-0');
  await world.advance(20);
  await world.silentFor(300, 'a-0');
  assert.deepEqual(withheld(world, 'a-0'), ['mark-unknown', 'mark-unknown']);
  assert.deepEqual(written(world), []);
});

test('a node whose kubelet reports Ready=False gets no taint, and spends no token of its zone', async () => {
  const policies = [aPolicy({ name: 'watched', mode: 'Observe', selector: [{ key: 'watched', operator: 'Exists' }] })];
  await using world = aZonedWorld({ a: 6, b: 4 }, { policies });
  for (const name of ['a-0', 'a-1']) {
    world.setLabels(name, { ...world.node(name).metadata.labels, watched: '' });
    world.post(name, 'False');
  }
  await world.running(15);
  world.post('a-2', 'False');
  await world.advance(6);
  assert.deepEqual(world.taints('a-2'), ['not-ready:NoExecute', 'not-ready:NoSchedule']);
  await world.advance(120);
  assert.deepEqual(written(world), ['a-2']);
  assert.deepEqual(withheld(world, 'a-0'), ['add-taints']);
});

test('pods of a tainted node stay, also for a taint that has nothing to do with health', async () => {
  await using world = aZonedWorld({ a: 4, b: 4 }, { policies: [observing] });
  world.setTaints('a-0', [notReady]);
  world.post('a-0', 'False');
  world.setTaints('a-1', [{ key: 'example.com/drain', effect: 'NoExecute' }]);
  world.addPod('pod-0', 'a-0');
  world.addPod('pod-1', 'a-1');
  await world.running(120);
  assert.deepEqual(written(world), []);
  assert.deepEqual(world.evictionMessages(), [], 'no Event announces a deletion');
  const held = world.decided('eviction-held').map(({ pod, why }) => `${pod} ${why}`);
  assert.deepEqual(new Set(held), new Set(['default/pod-0 observed', 'default/pod-1 observed']));
  assert.equal(held.length, 2);
});

test('taints of a healthy node are not removed, and labels not set', async () => {
  await using world = aZonedWorld({ a: 4, b: 4 }, { policies: [observing] });
  world.setTaints('a-0', [unreachable]);
  world.setLabels('a-1', { ...world.node('a-1').metadata.labels, 'kubernetes.io/os': 'linux' });
  await world.running(300);
  assert.deepEqual(written(world), []);
  assert.deepEqual(withheld(world, 'a-0'), ['remove-taints']);
  assert.deepEqual(withheld(world, 'a-1'), ['set-labels']);
});

test('pods of a node that became Unknown elsewhere are not marked', async () => {
  await using world = aZonedWorld({ a: 4, b: 4 }, { policies: [observing] });
  world.addPod('pod-a', 'a-0');
  world.post('a-0', 'Unknown');
  await world.start().silentFor(300, 'a-0');
  assert.deepEqual(written(world), []);
  assert.ok(withheld(world, 'a-0').includes('mark-pods-not-ready'));
});

test('eviction mode: no pod of the node is deleted', async () => {
  const options = { policies: [observing], taintBasedEvictions: false, podEvictionTimeoutMs: 60_000 };
  await using world = aZonedWorld({ a: 4, b: 4 }, options);
  world.addPod('pod-a', 'a-0');
  world.addPod('pod-b', 'b-0');
  await world.start().silentFor(300, 'a-0', 'b-0');
  assert.deepEqual(written(world), ['b-0', 'pod-b']);
});

test('eviction mode: pods of a node that is not ready stay', async () => {
  const options = { policies: [observing], taintBasedEvictions: false, podEvictionTimeoutMs: 60_000 };
  await using world = aZonedWorld({ a: 4, b: 4 }, options);
  world.addPod('pod-a', 'a-0');
  world.post('a-0', 'False');
  await world.running(300);
  assert.deepEqual(written(world), []);
  assert.ok(withheld(world, 'a-0').includes('delete-pods'));
});

test('the pod garbage collector deletes finished pods of the node, and none because the node is out of service', async () => {
  await using world = new ControllerWorld({ policies: [observing] }, { podGc: true }, { terminatedPodGcThreshold: 1 });
  world.addNodes(['a-0', 'a-1'], { zone: 'a' });
  for (const name of ['done-0', 'done-1']) {
    world.addPod(name, 'a-1');
    world.changePod(name, (pod) => ({ ...pod, status: { ...pod.status, phase: 'Succeeded' } }));
  }
  world.addPod('stuck', 'a-0');
  world.changePod('stuck', (pod) => ({
    ...pod,
    metadata: { ...pod.metadata, deletionTimestamp: '2026-01-01T00:00:00Z' },
  }));
  world.setTaints('a-0', [{ key: 'node.kubernetes.io/out-of-service', effect: 'NoExecute' }]);
  world.post('a-0', 'False');
  await world.running(120);
  assert.deepEqual(written(world), ['done-0']);
});

test('with mode Enforce again all that was withheld is done within a second, once', async () => {
  await using world = aZonedWorld({ a: 4, b: 4 }, { policies: [observing] });
  world.addPod('pod-a', 'a-0');
  world.setTaints('a-1', [unreachable]);
  world.setTaints('a-2', [{ key: 'example.com/drain', effect: 'NoExecute' }]);
  world.addPod('drained', 'a-2');
  await world.start().silentFor(300, 'a-0');
  assert.deepEqual(written(world), []);
  world.changeOptions({ policies: [{ ...observing, mode: 'Enforce' }] });
  await world.advance(1);
  assert.deepEqual(written(world), ['a-0', 'a-1', 'drained', 'pod-a']);
  await world.advance(60);
  assert.equal(world.writes.filter(({ subresource, name }) => name === 'a-0' && subresource === 'status').length, 1);
  assert.deepEqual(world.evicted(), ['drained', 'pod-a']);
});

test('a change to Observe while a write waits stops it', async () => {
  await using world = aZonedWorld({ a: 4, b: 4 }, { policies: [] }).start();
  const free = world.holdLane('detection');
  await world.silentFor(52, 'a-0');
  world.changeOptions({ policies: [observing] });
  free();
  await world.advance(30);
  assert.deepEqual(written(world), []);
});
