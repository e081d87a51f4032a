// A pod that is newer than what is known of its node: two watches are not of one moment.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { aPolicy } from '../../support/builders.ts';
import type { ControllerWorld } from '../../support/controller-world.ts';
import { aWorldOf, aZonedWorld } from '../../support/zoned-world.ts';

const startupTaint = { key: 'cni.example.com/agent-not-ready', value: 'true', effect: 'NoExecute' };

/** n0 has this taint in the cache; in the API it was removed, so a pod was bound. The watch of nodes is late. */
async function aLateNodeWatch(): Promise<ControllerWorld> {
  const world = aWorldOf(9, 3);
  world.setTaints('n0', [startupTaint]);
  await world.running(20);
  world.nodesFrozen = true;
  world.setTaints('n0', []);
  world.addPod('fresh', 'n0');
  return world;
}

function deliver(world: ControllerWorld): void {
  world.nodesFrozen = false;
  world.syncCaches();
}

test('a pod bound after a start-up taint was removed stays while the watch of nodes is a second behind', async () => {
  await using world = await aLateNodeWatch();
  await world.advance(1);
  deliver(world);
  await world.advance(30);
  assert.deepEqual(world.evicted(), []);
});

test('an answer that was requested before the pod was bound does not count', async () => {
  await using world = aWorldOf(9, 3);
  world.setTaints('n0', [startupTaint]);
  await world.running(20);
  world.nodesFrozen = true;
  world.addPod('before', 'n0');
  await world.advance(3);
  assert.deepEqual(world.evicted(), ['before'], 'the live node has the taint');
  world.setTaints('n0', []);
  world.addPod('after', 'n0');
  await world.advance(5);
  deliver(world);
  await world.advance(30);
  assert.deepEqual(world.evicted(), ['before']);
});

test('a pod bound to a node that has the taint is deleted after one read of the node', async () => {
  await using world = aWorldOf(9, 3);
  world.setTaints('n0', [startupTaint]);
  const reads: string[] = [];
  world.beforeRead = async (resource, name) => void reads.push(`${resource}/${name}`);
  await world.running(20);
  world.nodesFrozen = true;
  for (const name of ['a', 'b', 'c']) world.addPod(name, 'n0');
  await world.advance(3);
  assert.deepEqual([...world.evicted()].sort(), ['a', 'b', 'c']);
  assert.deepEqual(reads, ['nodes/n0']);
});

test('while the node cannot be read the pod stays, until a watch that is fresh must have shown the change', async () => {
  await using world = aWorldOf(9, 3);
  world.setTaints('n0', [startupTaint]);
  await world.running(20);
  world.nodesFrozen = true;
  world.failNext('get', 'nodes', 'timeout', Infinity);
  world.addPod('fresh', 'n0');
  await world.advance(60);
  assert.deepEqual(world.evicted(), []);
  await world.advance(45);
  assert.deepEqual(world.evicted(), ['fresh']);
});

test('eviction mode: a pod bound to a node that recovered stays while the watch of nodes is late', async () => {
  await using world = aWorldOf(9, 3, { taintBasedEvictions: false, podEvictionTimeoutMs: 60_000 });
  world.addPod('old', 'n0');
  await world.running(1);
  world.post('n0', 'False');
  await world.advance(90);
  assert.deepEqual(world.evicted(), ['old']);
  world.nodesFrozen = true;
  world.post('n0', 'True');
  world.addPod('fresh', 'n0');
  await world.advance(20);
  deliver(world);
  await world.advance(30);
  assert.deepEqual(world.evicted(), ['old']);
});

for (const [removal, policies] of [
  ['deletion', []],
  ['Eviction API', [aPolicy({ evictReachable: { timeoutMs: 600_000 } })]],
] as const)
  test(`a pod bound to a node that recovered stays while the watch of nodes is late (${removal})`, async () => {
    await using world = aZonedWorld({ a: 4, b: 4 }, { policies, nodeEvictionRate: 1 });
    await world.running(1);
    world.post('a-0', 'False');
    await world.advance(5);
    assert.deepEqual(world.taints('a-0'), ['not-ready:NoExecute', 'not-ready:NoSchedule']);
    world.nodesFrozen = true;
    world.post('a-0', 'True');
    world.setTaints('a-0', []);
    world.addPod('fresh', 'a-0');
    await world.advance(3);
    deliver(world);
    await world.advance(30);
    assert.deepEqual(
      world.writes.filter(({ verb }) => verb !== 'patch'),
      [],
    );
  });
