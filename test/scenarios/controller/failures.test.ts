import assert from 'node:assert/strict';
import { test } from 'node:test';
import { transformNode } from '../../../src/machinery/api/node.ts';
import type { ControllerWorld } from '../../support/controller-world.ts';
import { aZonedWorld } from '../../support/zoned-world.ts';

function aWorld(): ControllerWorld {
  const world = aZonedWorld({ a: 3, b: 2 });
  world.addPod('patient', 'a-0', [{ operator: 'Exists', effect: 'NoExecute', tolerationSeconds: 24 }]);
  return world;
}

test('failed writes are retried until they succeed: status, taints, marking, deletion', async () => {
  await using world = aWorld().start();
  world.failNext('patch', 'nodes', 'internal', 5);
  world.failNext('patch', 'pods', 'unavailable', 3);
  world.failNext('delete', 'pods', 'too-many-requests', 7);
  await world.silentFor(200, 'a-0');
  assert.equal(world.ready('a-0'), 'Unknown');
  assert.deepEqual(world.taints('a-0'), ['unreachable:NoExecute', 'unreachable:NoSchedule']);
  assert.equal(world.podReady('patient'), 'False');
  assert.deepEqual(world.evicted(), ['patient']);
  const announced = world.evictionMessages().filter((message) => message.startsWith('Marking'));
  assert.equal(announced.length, 1, 'a retry is not announced again');
});

test('a failed removal of a taint is retried', async () => {
  await using world = aWorld().start();
  await world.silentFor(52, 'a-0');
  world.failNext('patch', 'nodes', 'unavailable', 4);
  world.recover('a-0');
  await world.advance(20);
  assert.deepEqual(world.taints('a-0'), []);
});

test('a write that was applied although its response was lost is not repeated', async () => {
  await using world = aWorld().start();
  await world.silentFor(50, 'a-0');
  world.failNext('patch', 'nodes', 'timeout', 3, true);
  await world.advance(60);
  assert.deepEqual(world.taints('a-0'), ['unreachable:NoExecute', 'unreachable:NoSchedule']);
  const noExecute = world.writes.filter(({ body }) => JSON.stringify(body ?? {}).includes('"effect":"NoExecute"'));
  assert.equal(noExecute.length, 1);
});

test('a stale cache gets conflict: the node is read live, and no write of another client is undone', async () => {
  await using world = await aWorld().running(1);
  world.frozen = true;
  world.setTaints('a-0', [{ key: 'dedicated', effect: 'NoSchedule', value: 'db' }]);
  await world.silentFor(49.5, 'a-0');
  world.frozen = false;
  world.renewing('a-1', 'a-2', 'b-0', 'b-1');
  await world.advance(10);
  assert.deepEqual(world.taints('a-0'), ['dedicated:NoSchedule', 'unreachable:NoExecute', 'unreachable:NoSchedule']);
});

test('a refused write of Unknown is not repeated if the node that is read then shows a heartbeat', async () => {
  await using world = await aWorld().running(1);
  world.post('a-0', 'True');
  await world.silentFor(20, 'a-0');
  world.nodesFrozen = true;
  world.post('a-0', 'True');
  await world.advance(100);
  const [first] = world.writes.filter(({ name }) => name === 'a-0');
  assert.match(JSON.stringify(first?.body), /Unknown/);
  const seconds = first?.atSeconds ?? 0;
  assert.ok(seconds > 100 && seconds < 108, `${seconds} s: a grace period of 50 s after the read, at 51 s`);
});

test('a taint of this controller is not written twice while the cache does not have it yet', async () => {
  await using world = aWorld().start();
  await world.silentFor(49, 'a-0');
  world.frozen = true;
  await world.advance(3);
  world.frozen = false;
  const patches = world.writes.filter(({ name, resource }) => resource === 'nodes' && name === 'a-0');
  assert.equal(patches.length, 2, 'conditions, and both taints together');
  world.syncCaches();
  await world.advance(0.5);
  assert.equal(world.writes.filter(({ name, resource }) => resource === 'nodes' && name === 'a-0').length, 2);
});

test('a standby writes nothing, however many nodes are silent', async () => {
  await using world = aWorld();
  world.leading = false;
  await world.start().silentFor(300, 'a-0');
  assert.deepEqual(world.writes, []);
});

test('a restart during a countdown does not restart it', async () => {
  await using world = aWorld().start();
  await world.silentFor(51, 'a-0');
  const taintedAt =
    world.writes.find(({ body }) => JSON.stringify(body ?? {}).includes('"effect":"NoExecute"'))?.atSeconds ?? 0;
  await world.advance(14);
  await world.restart();
  await world.advance(20);
  const waited = (world.evictedAtSeconds('patient') ?? Infinity) - taintedAt;
  assert.ok(waited >= 24 && waited <= 25.2, `evicted ${waited} s after the taint`);
  assert.equal(world.kinds().includes('taint-withdrawn'), false);
});

test('a restart does not remove the taints of a silent node', async () => {
  await using world = aWorld();
  await world.start().silentFor(52, 'a-0');
  await world.stop();
  const before = world.writes.length;
  await world.restart();
  await world.advance(5);
  assert.deepEqual(world.taints('a-0'), ['unreachable:NoExecute', 'unreachable:NoSchedule']);
  assert.equal(world.writes.length, before);
});

test('pod marking that a crash interrupted is completed after the restart', async () => {
  await using world = aWorld();
  for (let i = 0; i < 40; i++) world.addPod(`p${i}`, 'a-0', [{ operator: 'Exists' }]);
  await world.start().silentFor(49.9, 'a-0');
  world.failNext('patch', 'pods', 'unavailable', 30);
  await world.advance(0.15);
  await world.restart();
  await world.advance(90);
  for (let i = 0; i < 40; i++) assert.equal(world.podReady(`p${i}`), 'False', `p${i}`);
});

test('a jump of the wall clock changes no assessment', async () => {
  await using world = await aWorld().running(20);
  world.clock.jumpWall(3_600_000);
  await world.advance(60);
  world.clock.jumpWall(-7_200_000);
  await world.advance(60);
  assert.deepEqual(world.writes, []);
});

test('malformed nodes cause neither a crash nor a wrong assessment', async () => {
  await using world = aWorld();
  const malformed = { ...transformNode({ metadata: {} }), name: 'malformed' };
  world.nodes.set('malformed', malformed);
  const conditions = [{ type: 'Ready', status: 'Perhaps', lastHeartbeatTime: 'yesterday' }];
  world.nodes.set('odder', { ...malformed, name: 'odder', conditions });
  await world.running(30);
  assert.equal(world.ready('a-0'), 'True');
});

function silenceTimes(world: ControllerWorld): readonly number[] {
  const events = world.nodeEvents.drafts.filter(
    ({ reason, about }) => reason === 'NodeNotReady' && about.kind === 'Node',
  );
  return [events.length, world.decided('node-silent').length];
}

for (const cache of ['follows', 'lags']) {
  for (const reason of ['timeout', 'unavailable'] as const) {
    test(`a write of Unknown that was carried out although its answer was lost (${reason}; the cache ${cache}): one Event, one decision`, async () => {
      await using world = aWorld().start();
      await world.silentFor(45, 'a-0');
      world.failNext('patch', 'nodes', reason, 1, true);
      world.nodesFrozen = cache === 'lags';
      await world.advance(20);
      world.nodesFrozen = false;
      world.syncCaches();
      await world.advance(200);
      assert.equal(world.ready('a-0'), 'Unknown');
      assert.deepEqual(silenceTimes(world), [1, 1]);
    });
  }
}

test('a write of Unknown that is done at the third attempt, after two that were not: one Event, one decision', async () => {
  await using world = aWorld().start();
  await world.silentFor(45, 'a-0');
  world.failNext('patch', 'nodes', 'timeout', 2);
  await world.advance(60);
  assert.equal(world.ready('a-0'), 'Unknown');
  assert.deepEqual(silenceTimes(world), [1, 1]);
});

test('a write of Unknown without an answer, and another controller writes Unknown meanwhile: no Event of this one', async () => {
  await using world = aWorld().start();
  await world.silentFor(45, 'a-0');
  world.failNext('patch', 'nodes', 'timeout', 1_000);
  await world.advance(10);
  world.post('a-0', 'Unknown');
  await world.advance(60);
  assert.deepEqual(silenceTimes(world), [0, 0]);
});

test('a node that was never ready and whose write of Unknown lost its answer: no Event, one decision', async () => {
  await using world = aWorld();
  world.post('a-0', 'False');
  await world.start().silentFor(45, 'a-0');
  world.failNext('patch', 'nodes', 'timeout', 1, true);
  await world.advance(60);
  assert.deepEqual(silenceTimes(world), [0, 1]);
});
