import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ControllerWorld } from '../../support/controller-world.ts';

function aWorld(): ControllerWorld {
  const world = new ControllerWorld();
  for (const name of ['a-0', 'a-1', 'a-2', 'b-0', 'b-1']) {
    world.addNode(name, { zone: name.slice(0, 1) });
    world.renewing(name);
  }
  world.addPod('patient', 'a-0', [{ operator: 'Exists', effect: 'NoExecute', tolerationSeconds: 24 }]);
  return world;
}

test('failed writes are repeated until they are done: status, taints, marking, deletion', async () => {
  const world = aWorld();
  world.start();
  world.failNext('patch', 'nodes', 'internal', 5);
  world.failNext('patch', 'pods', 'unavailable', 3);
  world.failNext('delete', 'pods', 'too-many-requests', 7);
  world.goDark('a-0');
  await world.advance(200);
  assert.equal(world.ready('a-0'), 'Unknown');
  assert.deepEqual(world.taints('a-0'), ['unreachable:NoExecute', 'unreachable:NoSchedule']);
  assert.equal(world.pod('patient')?.status?.conditions?.find(({ type }) => type === 'Ready')?.status, 'False');
  assert.deepEqual(world.evicted(), ['patient']);
  assert.equal(
    world.evictionEvents.drafts.filter(({ message }) => message.startsWith('Marking')).length,
    1,
    'a retry is not announced again',
  );
  await world.stop();
});

test('a failed untaint is repeated', async () => {
  const world = aWorld();
  world.start();
  world.goDark('a-0');
  await world.advance(52);
  world.failNext('patch', 'nodes', 'unavailable', 4);
  world.renewing('a-0');
  world.post('a-0', 'True');
  await world.advance(20);
  assert.deepEqual(world.taints('a-0'), []);
  await world.stop();
});

test('a write that was carried out although its answer was lost is not repeated blindly', async () => {
  const world = aWorld();
  world.start();
  world.goDark('a-0');
  await world.advance(50);
  world.failNext('patch', 'nodes', 'timeout', 3, true);
  await world.advance(60);
  assert.deepEqual(world.taints('a-0'), ['unreachable:NoExecute', 'unreachable:NoSchedule']);
  const noExecute = world.writes.filter(({ body }) => JSON.stringify(body ?? {}).includes('"effect":"NoExecute"'));
  assert.equal(noExecute.length, 1);
  await world.stop();
});

test('a stale cache answers conflict: the live node is read, and nothing of somebody else is undone', async () => {
  const world = aWorld();
  world.start();
  await world.advance(1);
  world.frozen = true;
  world.setTaints('a-0', [{ key: 'dedicated', effect: 'NoSchedule', value: 'db' }]);
  world.goDark('a-0');
  await world.advance(49.5);
  world.frozen = false;
  world.renewing('a-1', 'a-2', 'b-0', 'b-1');
  await world.advance(10);
  assert.deepEqual(world.taints('a-0'), ['dedicated:NoSchedule', 'unreachable:NoExecute', 'unreachable:NoSchedule']);
  await world.stop();
});

test('our own taint is not written a second time while the cache does not show it yet', async () => {
  const world = aWorld();
  world.start();
  world.goDark('a-0');
  await world.advance(49);
  world.frozen = true;
  await world.advance(3);
  world.frozen = false;
  const patches = world.writes.filter(({ name, resource }) => resource === 'nodes' && name === 'a-0');
  assert.equal(patches.length, 3, 'conditions, NoSchedule, NoExecute: each once');
  world.syncCaches();
  await world.advance(0.5);
  assert.equal(world.writes.filter(({ name, resource }) => resource === 'nodes' && name === 'a-0').length, 3);
  await world.stop();
});

test('who does not lead writes nothing, however dark the nodes', async () => {
  const world = aWorld();
  world.leading = false;
  world.start();
  world.goDark('a-0');
  await world.advance(300);
  assert.deepEqual(world.writes, []);
  await world.stop();
});

test('a restart in the countdown does not start it again', async () => {
  const world = aWorld();
  world.start();
  world.goDark('a-0');
  await world.advance(51);
  const taintedAt =
    world.writes.find(({ body }) => JSON.stringify(body ?? {}).includes('"effect":"NoExecute"'))?.atSeconds ?? 0;
  await world.advance(14);
  await world.restart();
  await world.advance(20);
  const waited = (world.evictedAtSeconds('patient') ?? Infinity) - taintedAt;
  assert.ok(waited >= 24 && waited <= 25.2, `evicted ${waited} s after the taint`);
  assert.equal(world.kinds().includes('taint-withdrawn'), false);
  await world.stop();
});

test('a restart does not take the taints of a silent node away', async () => {
  const world = aWorld();
  world.start();
  world.goDark('a-0');
  await world.advance(52);
  await world.stop();
  const before = world.writes.length;
  await world.restart();
  await world.advance(5);
  assert.deepEqual(world.taints('a-0'), ['unreachable:NoExecute', 'unreachable:NoSchedule']);
  assert.equal(world.writes.length, before);
  await world.stop();
});

test('pod marking that a crash interrupted is finished after the restart', async () => {
  const world = aWorld();
  for (let i = 0; i < 40; i++) world.addPod(`p${i}`, 'a-0', [{ operator: 'Exists' }]);
  world.start();
  world.goDark('a-0');
  await world.advance(49.9);
  world.failNext('patch', 'pods', 'unavailable', 30);
  await world.advance(0.15);
  await world.restart();
  await world.advance(90);
  for (let i = 0; i < 40; i++) {
    assert.equal(
      world.pod(`p${i}`)?.status?.conditions?.find(({ type }) => type === 'Ready')?.status,
      'False',
      `p${i}`,
    );
  }
  await world.stop();
});

test('the wall clock may jump: no verdict comes of it', async () => {
  const world = aWorld();
  world.start();
  await world.advance(20);
  world.clock.jumpWall(3_600_000);
  await world.advance(60);
  world.clock.jumpWall(-7_200_000);
  await world.advance(60);
  assert.deepEqual(world.writes, []);
  await world.stop();
});

test('malformed nodes neither crash nor mislead', async () => {
  const world = aWorld();
  world.nodes.set('odd', {
    name: 'odd',
    uid: '',
    resourceVersion: '',
    createdAtMs: 0,
    labels: {},
    unschedulable: false,
    taints: [],
    conditions: [],
    bootID: '',
  });
  world.nodes.set('odder', {
    ...world.nodes.get('odd')!,
    name: 'odder',
    conditions: [{ type: 'Ready', status: 'Perhaps', lastHeartbeatTime: 'yesterday' }],
  });
  world.start();
  await world.advance(30);
  assert.equal(world.ready('a-0'), 'True');
  await world.stop();
});
