import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ApiError } from '../../../src/machinery/api/api-error.ts';
import { aDaemonSetView } from '../../support/builders.ts';
import type { ControllerWorld } from '../../support/controller-world.ts';
import { aWorldOf, aZonedWorld, names } from '../../support/zoned-world.ts';

/** Six nodes in two zones that renew their leases, in the older mode. */
function aCluster(): ControllerWorld {
  const world = aWorldOf(6, 2, { taintBasedEvictions: false, podEvictionTimeoutMs: 300_000 });
  world.addPod('plain', 'n0');
  world.addPod('elsewhere', 'n1');
  return world;
}

test('eviction mode: the pods of a silent node are deleted after the timeout, and it gets no NoExecute taint', async () => {
  await using world = aCluster();
  world.daemonSets.set('default/ds', aDaemonSetView('default', 'ds', { daemon: 'yes' }));
  world.addPod('agent', 'n0', [], { labels: { daemon: 'yes' } });
  await world.start().silentFor(299, 'n0');
  assert.equal(world.ready('n0'), 'Unknown');
  assert.deepEqual(world.taints('n0'), ['unreachable:NoSchedule']);
  assert.deepEqual(world.evicted(), []);
  await world.advance(3);
  assert.deepEqual(world.evicted(), ['plain']);
  assert.deepEqual(world.taints('n0'), ['unreachable:NoSchedule']);
  const deletion = world.writes.find(({ verb }) => verb === 'delete');
  assert.ok(deletion?.uid?.startsWith('uid-plain-'));
  assert.ok(world.nodeEvents.drafts.some(({ reason }) => reason === 'DeletingAllPods'));
});

test('eviction mode: a node that recovers in time keeps its pods', async () => {
  await using world = aCluster().start();
  await world.silentFor(200, 'n0');
  world.recover('n0');
  await world.advance(600);
  assert.deepEqual(world.evicted(), []);
  assert.deepEqual(world.taints('n0'), []);
});

test('eviction mode: no pod is deleted during a full disruption, and afterwards every node gets the full timeout again', async () => {
  await using world = aCluster().start();
  await world.silentFor(1_200, 'n0', 'n1', 'n2', 'n3', 'n4', 'n5');
  assert.deepEqual(world.evicted(), []);
  world.recover('n1', 'n2', 'n3', 'n4', 'n5');
  await world.advance(290);
  assert.deepEqual(world.evicted(), []);
  await world.advance(30);
  assert.deepEqual(world.evicted(), ['plain']);
});

test('eviction mode: an idle healthy cluster causes no write', async () => {
  await using world = await aCluster().running(600);
  assert.deepEqual(world.writes, []);
});

/** Both nodes of zone a are due; one was evicted, the other waits for a token, and then both are deleted. */
async function zoneDeletedInTheQueue(nodeEvictionRate: number): Promise<ControllerWorld> {
  const world = aZonedWorld({ a: 2, b: 5 }, { taintBasedEvictions: false, nodeEvictionRate });
  for (const name of names(2, 'a-')) world.addPod(`pod-of-${name}`, name);
  await world.start().silentFor(301, ...names(2, 'a-'));
  assert.deepEqual(world.evicted(), ['pod-of-a-0']);
  for (const name of names(2, 'a-')) world.removeNode(name);
  await world.advance(5);
  assert.deepEqual(world.lifecycle.stages.zones.zones(), ['r/b']);
  return world;
}

test('eviction mode: a queued node whose zone vanishes is still served', async () => {
  await using world = await zoneDeletedInTheQueue(0.1);
  assert.deepEqual(world.evicted(), ['pod-of-a-0'], 'its token comes ten seconds after the previous one');
  await world.advance(6);
  assert.deepEqual(world.evicted(), ['pod-of-a-0', 'pod-of-a-1']);
  const actual = world.lifecycle.stages.queues.zones();
  assert.deepEqual(actual, ['r/b'], 'the empty queue of a zone that no longer exists is dropped');
  assert.equal(world.meter.read().has('node_lifecycle_taint_queue_depth{zone="r/a"}'), false);
});

test('eviction mode: a zone that reappears takes over the nodes in its queue', async () => {
  await using world = await zoneDeletedInTheQueue(0.05);
  world.addNode('a-9', { zone: 'a' });
  world.renewing('a-9');
  await world.advance(6);
  assert.equal(world.lifecycle.stages.queues.zoneOf('a-1'), 'r/a');
  await world.advance(20);
  assert.deepEqual(world.evicted(), ['pod-of-a-0', 'pod-of-a-1']);
  assert.deepEqual(world.lifecycle.stages.queues.zones(), ['r/a', 'r/b']);
});

test('eviction mode: a queued node that was deleted and registers again keeps its pods while the cache of nodes is behind', async () => {
  const options = { taintBasedEvictions: false, podEvictionTimeoutMs: 60_000, nodeEvictionRate: 0.01 };
  await using world = aZonedWorld({ a: 6, b: 6 }, options);
  world.addPod('p0', 'a-0');
  world.addPod('p1', 'a-1');
  world.start();
  await world.silentFor(150, 'a-0', 'a-1');
  assert.deepEqual(world.evicted(), ['p0'], 'the other node is queued');
  world.removeNode('a-1');
  world.nodesFrozen = true;
  world.addNode('a-1', { zone: 'a' });
  world.renewing('a-1');
  await world.advance(200);
  assert.deepEqual(world.evicted(), ['p0']);
});

test('eviction mode: the pods of a queued node that was deleted are deleted once that is confirmed', async () => {
  const options = { taintBasedEvictions: false, podEvictionTimeoutMs: 60_000, nodeEvictionRate: 0.01 };
  await using world = aZonedWorld({ a: 6, b: 6 }, options);
  world.addPod('p0', 'a-0');
  world.addPod('p1', 'a-1');
  world.start();
  await world.silentFor(150, 'a-0', 'a-1');
  world.removeNode('a-1');
  world.failNext('get', 'nodes', 'timeout', 2);
  await world.advance(200);
  assert.deepEqual(world.evicted(), ['p0', 'p1']);
});

test('eviction mode: a node that recovered keeps its pods, also while the watch of nodes delivers nothing', async () => {
  await using world = aCluster().start();
  world.post('n0', 'False');
  await world.advance(200);
  world.nodesFrozen = true;
  world.post('n0', 'True');
  await world.advance(200);
  assert.deepEqual(world.evicted(), []);
});

test('eviction mode: a node that recovered and failed again meanwhile has its whole timeout again', async () => {
  await using world = aCluster().start();
  world.post('n0', 'False');
  await world.advance(200);
  world.nodesFrozen = true;
  world.post('n0', 'True');
  await world.advance(60);
  world.post('n0', 'False');
  await world.advance(60);
  world.nodesFrozen = false;
  world.syncCaches();
  await world.advance(200);
  assert.deepEqual(world.evicted(), []);
  await world.advance(120);
  assert.deepEqual(world.evicted(), ['plain']);
});

test('eviction mode: a NotReady node that is silent for a while stays evicted, and pods that land on it leave', async () => {
  await using world = aCluster().start();
  world.post('n0', 'False');
  await world.advance(320);
  assert.deepEqual(world.evicted(), ['plain']);
  await world.silentFor(60, 'n0');
  assert.equal(world.ready('n0'), 'Unknown');
  world.post('n0', 'False');
  world.renewing('n0');
  await world.advance(20);
  world.addPod('landed', 'n0');
  await world.advance(20);
  assert.deepEqual(world.evicted(), ['plain', 'landed']);
});

test('eviction mode: the cache decides about a node that cannot be read for a minute', async () => {
  await using world = aCluster().start();
  world.beforeRead = () => Promise.reject(new ApiError({ reason: 'internal', message: 'scripted' }));
  await world.silentFor(330, 'n0');
  assert.deepEqual(world.evicted(), []);
  await world.advance(60);
  assert.deepEqual(world.evicted(), ['plain']);
});
