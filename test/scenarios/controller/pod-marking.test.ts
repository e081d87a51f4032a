// Marking the pods of a silent node NotReady: once for each silence, whatever the watches deliver meanwhile.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { transformNode } from '../../../src/machinery/api/node.ts';
import { formatTime } from '../../../src/machinery/api/timestamps.ts';
import { aCondition, type ControllerWorld } from '../../support/controller-world.ts';
import { aZonedWorld, names } from '../../support/zoned-world.ts';

const podNames = names(4, 'p-');

/** Three zones of three nodes; four pods on a-0. */
function aWorldWithPods(): ControllerWorld {
  const world = aZonedWorld({ a: 3, b: 3, c: 3 });
  for (const name of podNames) world.addPod(name, 'a-0', [{ operator: 'Exists' }]);
  return world;
}

function patches(world: ControllerWorld, pod: string): number {
  return world.writes.filter(({ verb, resource, name }) => verb === 'patch' && resource === 'pods' && name === pod)
    .length;
}

function notReadyEvents(world: ControllerWorld, pod: string): number {
  return world.nodeEvents.drafts.filter(({ about, reason }) => about.name === pod && reason === 'NodeNotReady').length;
}

/** `marks` of each pod: writes of its status and Events about it. */
function assertMarked(world: ControllerWorld, marks: number): void {
  for (const pod of podNames) assert.deepEqual([patches(world, pod), notReadyEvents(world, pod)], [marks, marks], pod);
}

function areReady(world: ControllerWorld): readonly boolean[] {
  return [...new Set(podNames.map((pod) => world.podReady(pod) === 'True'))];
}

test('each pod of a silent node gets one PATCH and one Event while the caches do not have the writes yet', async () => {
  await using world = aWorldWithPods();
  await world.start().silentFor(49.9, 'a-0');
  world.frozen = true;
  await world.advance(0.5);
  // The node watch is faster than the pod watch: its event queues the node's pods once more.
  world.nodes.set('a-0', transformNode(world.node('a-0')));
  await world.advance(10);
  assertMarked(world, 1);
  world.frozen = false;
  world.syncCaches();
  await world.advance(20);
  assertMarked(world, 1);
});

test('a pod that is evaluated again while its PATCH is in flight is not marked a second time', async () => {
  await using world = aWorldWithPods();
  const { promise: answered, resolve: release } = Promise.withResolvers<void>();
  world.beforeWrite = ({ resource }) => (resource === 'pods' ? answered : Promise.resolve());
  await world.start().silentFor(55, 'a-0');
  assert.equal(world.ready('a-0'), 'Unknown');
  world.frozen = true;
  world.lifecycle.stages.marker.evaluateNode('a-0');
  await world.advance(1);
  release();
  await world.advance(1);
  world.lifecycle.stages.marker.evaluateNode('a-0');
  await world.advance(1);
  assertMarked(world, 1);
  assert.deepEqual(areReady(world), [false]);
});

/** What the kubelet posts of its pods when it is back. */
function kubeletPostsReady(world: ControllerWorld): void {
  for (const name of podNames) {
    world.changePod(name, (pod) => ({
      ...pod,
      status: { ...pod.status, conditions: [aCondition('Ready', 'True', formatTime(world.clock.nowMs()))] },
    }));
  }
}

/** a-0 is Unknown, renewed once since then, and its kubelet made its pods Ready again. */
async function renewedOnceWhileUnknown(): Promise<ControllerWorld> {
  const world = aWorldWithPods();
  await world.start().silentFor(60, 'a-0');
  assert.deepEqual(areReady(world), [false]);
  world.renewing('a-0');
  world.goSilent('a-0');
  kubeletPostsReady(world);
  return world;
}

test('pods of an Unknown node with a heartbeat within its grace period are left to its kubelet', async () => {
  await using world = await renewedOnceWhileUnknown();
  for (let left = 4; left > 0; left -= 1) {
    await world.advance(10);
    world.lifecycle.stages.marker.evaluateNode('a-0');
  }
  await world.advance(1);
  assert.equal(world.ready('a-0'), 'Unknown');
  assert.deepEqual(areReady(world), [true]);
});

test('the pods of a node that becomes silent a second time while it is Unknown are marked again', async () => {
  await using world = await renewedOnceWhileUnknown();
  await world.advance(60);
  world.lifecycle.stages.marker.evaluateNode('a-0');
  await world.advance(1);
  assert.equal(world.ready('a-0'), 'Unknown');
  assert.deepEqual(areReady(world), [false]);
  assertMarked(world, 2);
});

test('a second silence waits for a slot of its own at the marking rate', async () => {
  await using world = await renewedOnceWhileUnknown();
  const { marking } = world.lifecycle.stages;
  assert.equal(marking.admits('a-0'), false);
  await world.advance(60);
  assert.equal(marking.admits('a-0'), true);
});

/** a-0 is Unknown and the marks of its pods wait for a slot of their lane; `free` ends that. */
async function marksThatWait(): Promise<{ readonly world: ControllerWorld; readonly free: () => void }> {
  const world = aWorldWithPods();
  const holding = Promise.withResolvers<() => void>();
  world.beforeWrite = async ({ resource, subresource }) => {
    if (resource === 'nodes' && subresource === 'status') holding.resolve(world.holdLane('detection'));
  };
  await world.start().silentFor(52, 'a-0');
  assert.equal(world.ready('a-0'), 'Unknown');
  return { world, free: await holding.promise };
}

test('marks that wait to be sent are not sent while the watches are stale, and are sent afterwards', async () => {
  const { world, free } = await marksThatWait();
  world.loseContact();
  await world.advance(20);
  free();
  await world.advance(20);
  assertMarked(world, 0);
  world.restoreContact();
  await world.advance(30);
  assert.deepEqual(areReady(world), [false]);
  await world.stop();
});

test('marks that wait to be sent are not sent once the node renews its lease', async () => {
  const { world, free } = await marksThatWait();
  world.renewing('a-0');
  await world.advance(1);
  free();
  await world.advance(20);
  assertMarked(world, 0);
  assert.deepEqual(areReady(world), [true]);
  await world.stop();
});

test('a check drops the state of a node that no longer exists or renews its lease', async () => {
  await using world = aWorldWithPods();
  await world.start().silentFor(60, 'a-0');
  const { marker, marking } = world.lifecycle.stages;
  marking.enqueue('never-existed'); // as after an event that never came
  for (const name of marker.queuedNodes()) marker.check(name);
  assert.deepEqual([...marker.queuedNodes()], ['a-0'], 'still silent');
  world.renewing('a-0');
  marker.check('a-0');
  assert.deepEqual([...marker.queuedNodes()], []);
});

test('a kubelet whose heartbeats do not arrive and whose pod statuses do is not contradicted a second time', async () => {
  await using world = aWorldWithPods();
  await world.start().silentFor(60, 'a-0');
  assertMarked(world, 1);
  for (let left = 30; left > 0; left -= 1) {
    kubeletPostsReady(world);
    await world.advance(10);
  }
  assertMarked(world, 1);
  assert.deepEqual(areReady(world), [true]);
});

test('a version of before its mark, as a restore of etcd brings it back, is not marked; a later one of its kubelet is', async () => {
  await using world = aWorldWithPods();
  await world.start().silentFor(40, 'a-0');
  const before = world.pods.get('default/p-0');
  assert.ok(before);
  await world.silentFor(20, 'a-0');
  const { marking } = world.lifecycle.stages;
  assert.equal(marking.isMarked(before), true, 'a watch may bring the mark yet');
  await world.advance(60);
  assert.equal(marking.isMarked(before), false);
  assert.equal(marking.isMarked({ ...before, resourceVersion: `${before.resourceVersion}0` }), true);
  assert.equal(marking.isMarked({ ...before, resourceVersion: 'v1' }), true, 'no order is known');
});

test('a mark that a restore of etcd undid is made again, also where the pod has a later version at once', async () => {
  await using world = aWorldWithPods();
  await world.start().silentFor(40, 'a-0');
  const before = world.pods.get('default/p-0');
  assert.ok(before);
  await world.silentFor(20, 'a-0');
  assert.equal(world.podReady('p-0'), 'False');
  world.pods.set('default/p-0', before);
  kubeletPostsReady(world);
  await world.advance(10);
  assert.equal(world.podReady('p-0'), 'False');
});

test('lists that repeat every pod as it was, as after a restore that was only assumed, contradict no kubelet a second time', async () => {
  await using world = aWorldWithPods();
  await world.start().silentFor(60, 'a-0');
  for (let left = 3; left > 0; left -= 1) {
    kubeletPostsReady(world);
    await world.advance(10);
    world.pods.repeatAll();
    await world.advance(10);
  }
  assertMarked(world, 1);
  assert.deepEqual(areReady(world), [true]);
});

test('a pod that is bound later in the same silence is marked, and those before it are not marked again', async () => {
  await using world = aWorldWithPods();
  await world.start().silentFor(60, 'a-0');
  kubeletPostsReady(world);
  world.addPod('late', 'a-0', [{ operator: 'Exists' }]);
  await world.advance(100);
  assert.equal(world.podReady('late'), 'False');
  assertMarked(world, 1);
});

test('the end of a full disruption is no heartbeat: pods of a node that stays silent are not marked again', async () => {
  await using world = aWorldWithPods();
  await world.start().silentFor(70, ...names(3, 'a-'), ...names(3, 'b-'), ...names(3, 'c-'));
  await world.advance(400);
  assertMarked(world, 1);
  kubeletPostsReady(world);
  world.recover(...names(3, 'b-'), ...names(3, 'c-'));
  await world.advance(200);
  assert.equal(world.ready('a-0'), 'Unknown');
  assertMarked(world, 1);
});

test('marks that fail are repeated until each pod was marked once', async () => {
  await using world = aWorldWithPods();
  world.failNext('patch', 'pods', 'internal', 10);
  await world.start().silentFor(70, 'a-0');
  assert.deepEqual(areReady(world), [false]);
  kubeletPostsReady(world);
  await world.advance(100);
  assertMarked(world, 1);
});

test('a new leader, to which the API shows no marks, marks each pod once more at most', async () => {
  await using world = aWorldWithPods();
  await world.start().silentFor(60, 'a-0');
  kubeletPostsReady(world);
  await world.restart();
  for (let left = 30; left > 0; left -= 1) {
    await world.advance(10);
    kubeletPostsReady(world);
  }
  assertMarked(world, 2);
});

test('a check evaluates the pods of a silent node, whatever events were lost', async () => {
  await using world = aWorldWithPods();
  await world.start().silentFor(60, 'a-0');
  for (const pod of podNames) world.lifecycle.stages.marking.forgetPod({ nodeName: 'a-0', uid: uidOf(world, pod) });
  kubeletPostsReady(world);
  await world.advance(1);
  world.lifecycle.stages.marker.check('a-0');
  await world.advance(1);
  assert.deepEqual(areReady(world), [false]);
});

function uidOf(world: ControllerWorld, pod: string): string {
  return world.pod(pod)?.metadata.uid ?? '';
}

test('serve returns the time of the next free slot while a node waits', async () => {
  await using world = aZonedWorld({ a: 6, b: 6 }, { podMarkingRate: 0.1 });
  for (const name of names(2, 'a-')) world.addPod(`pod-of-${name}`, name, [{ operator: 'Exists' }]);
  await world.running(1);
  const { marker, noExecute } = world.lifecycle.stages;
  assert.deepEqual([marker.serve(), noExecute.serve()], [Infinity, Infinity]);
  await world.silentFor(51.5, ...names(2, 'a-'));
  const [marksInMs, taintsInMs] = [marker.serve(), noExecute.serve()];
  assert.ok(marksInMs > 7_000 && marksInMs < 10_000, `${marksInMs} ms at 0.1 nodes/s`);
  assert.ok(taintsInMs > 7_000 && taintsInMs < 10_000, `${taintsInMs} ms at 0.1 nodes/s`);
});
