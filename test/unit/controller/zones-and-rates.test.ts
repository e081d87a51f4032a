import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ControllerWorld } from '../../support/controller-world.ts';
import { aZonedWorld, names } from '../../support/zoned-world.ts';

function taintedNodes(world: ControllerWorld, zone: string, size: number): number {
  return names(size, `${zone}-`).filter((name) => world.taints(name).includes('unreachable:NoExecute')).length;
}

test('a normal zone gives one NoExecute taint at once and the next after 1/rate', async () => {
  const world = aZonedWorld({ a: 10, b: 3 });
  world.start();
  world.goDark('a-0', 'a-1');
  await world.advance(51);
  assert.equal(taintedNodes(world, 'a', 10), 1);
  await world.advance(8.8);
  assert.equal(taintedNodes(world, 'a', 10), 1);
  await world.advance(1.5);
  assert.equal(taintedNodes(world, 'a', 10), 2);
  await world.stop();
});

test('a small zone with most nodes dark stops, says why, and goes on at its rate when it recovers', async () => {
  const world = aZonedWorld({ a: 10, b: 3 });
  world.start();
  world.goDark(...names(6, 'a-'));
  await world.advance(120);
  assert.equal(
    taintedNodes(world, 'a', 10),
    0,
    'six fell dark at the same moment: the zone was judged before anybody was tainted',
  );
  assert.equal(world.lifecycle.stages.zones.condition('r/a'), 'partially-disrupted');
  const held = world.decisions.find(({ decision }) => decision.kind === 'taints-held')?.decision;
  assert.ok(
    held?.kind === 'taints-held' &&
      held.why.rule === 'small-zone-disrupted' &&
      held.why.unready === 6 &&
      held.waiting === 6,
  );
  assert.deepEqual(
    names(6, 'a-').map((name) => world.taints(name)),
    names(6).map(() => ['unreachable:NoSchedule']),
  );
  for (const name of names(4, 'a-')) world.post(name, 'True');
  world.renewing(...names(4, 'a-'));
  await world.advance(9);
  assert.equal(taintedNodes(world, 'a', 10), 0, 'leaving a stop starts with an empty bucket');
  await world.advance(2);
  assert.equal(taintedNodes(world, 'a', 10), 1);
  await world.stop();
});

test('a large zone with most nodes dark goes on at the secondary rate', async () => {
  const world = aZonedWorld({ a: 51, b: 3 });
  world.start();
  await world.advance(1);
  world.goDark(...names(30, 'a-'));
  await world.advance(60);
  assert.equal(world.lifecycle.stages.zones.plan('r/a')?.ratePerSecond, 0.01);
  assert.equal(taintedNodes(world, 'a', 51), 1, 'the bucket was full');
  await world.advance(85);
  assert.equal(taintedNodes(world, 'a', 51), 1, 'the next comes 100 s after the first');
  await world.advance(10);
  assert.equal(taintedNodes(world, 'a', 51), 2);
  await world.stop();
});

test('when every zone is dark nothing is tainted or evicted, and what was tainted is pardoned', async () => {
  const world = aZonedWorld({ a: 4, b: 4 });
  world.addPod('patient', 'a-0', [{ operator: 'Exists', effect: 'NoExecute', tolerationSeconds: 60 }]);
  for (const name of names(4, 'b-')) world.addPod(`on-${name}`, name);
  world.start();
  world.goDark('a-0');
  await world.advance(60);
  assert.deepEqual(world.taints('a-0'), ['unreachable:NoExecute', 'unreachable:NoSchedule']);
  world.goDark(...names(4, 'a-'), ...names(4, 'b-'));
  await world.advance(600);
  assert.equal(world.lifecycle.stages.zones.everyZoneDark, true);
  for (const name of [...names(4, 'a-'), ...names(4, 'b-')])
    assert.deepEqual(world.taints(name), ['unreachable:NoSchedule'], name);
  assert.deepEqual(world.evicted(), []);
  assert.equal(world.kinds().filter((kind) => kind === 'outage-entered').length, 1);
  await world.stop();
});

test('when one zone answers again everybody gets a full grace period, and then the rate applies to who stays dark', async () => {
  const world = aZonedWorld({ a: 4, b: 4 }, { controlPlanePathFailureHoldMs: 0 });
  world.start();
  world.goDark(...names(4, 'a-'), ...names(4, 'b-'));
  await world.advance(100);
  assert.equal(world.lifecycle.stages.zones.everyZoneDark, true);
  for (const name of names(4, 'b-')) world.post(name, 'True');
  await world.advance(9);
  assert.equal(world.lifecycle.stages.zones.everyZoneDark, false);
  assert.equal(taintedNodes(world, 'a', 4), 0);
  await world.advance(2.5);
  assert.equal(taintedNodes(world, 'a', 4), 1);
  assert.equal(world.ready('b-0'), 'True', 'its lease is still old, but the outage is not held against it');
  world.renewing(...names(4, 'b-'));
  await world.advance(60);
  assert.equal(world.ready('b-0'), 'True');
  assert.deepEqual(world.taints('b-0'), []);
  await world.stop();
});

test('a healthy new zone ends the outage for the old ones too', async () => {
  const world = aZonedWorld({ a: 3 });
  world.start();
  world.goDark(...names(3, 'a-'));
  await world.advance(70);
  assert.equal(world.lifecycle.stages.queues.get('r/a')?.ratePerSecond, 0);
  world.addNode('c-0', { zone: 'c' });
  world.renewing('c-0');
  await world.advance(1);
  assert.equal(world.lifecycle.stages.queues.get('r/a')?.ratePerSecond, 0.1);
  await world.advance(11);
  assert.equal(taintedNodes(world, 'a', 3), 1);
  await world.stop();
});

test('a rate of exactly 1.0 can be stopped and resumed', async () => {
  const world = aZonedWorld({ a: 6, b: 3 }, { nodeEvictionRate: 1 });
  world.start();
  world.goDark(...names(4, 'a-'));
  await world.advance(60);
  assert.equal(world.lifecycle.stages.queues.get('r/a')?.ratePerSecond, 0);
  world.renewing('a-2', 'a-3');
  world.post('a-2', 'True');
  world.post('a-3', 'True');
  await world.advance(5);
  assert.equal(taintedNodes(world, 'a', 6), 2);
  await world.stop();
});

test('a restart does not hand out a token: the taints that are there tell when the last one was spent', async () => {
  const world = aZonedWorld({ a: 20 });
  world.start();
  world.goDark(...names(4, 'a-'));
  await world.advance(51);
  assert.equal(taintedNodes(world, 'a', 4), 1);
  for (let restarts = 0; restarts < 4; restarts += 1) {
    await world.restart();
    await world.advance(2);
  }
  assert.equal(taintedNodes(world, 'a', 4), 1);
  await world.advance(3.5);
  assert.equal(taintedNodes(world, 'a', 4), 2, 'ten seconds and the second that stamps are cut off by');
  await world.stop();
});

test('a node whose zone labels change leaves the old line', async () => {
  const world = aZonedWorld({ a: 10, b: 3 });
  world.start();
  world.goDark('a-0', 'a-1', 'a-2');
  await world.advance(51);
  const waiting = world.lifecycle.stages.queues.get('r/a')?.keysInOrder() ?? [];
  assert.equal(waiting.length, 2);
  const mover = waiting[0] ?? '';
  const node = world.nodes.get(mover);
  assert.ok(node !== undefined);
  world.nodes.set(mover, {
    ...node,
    labels: { 'topology.kubernetes.io/region': 'r', 'topology.kubernetes.io/zone': 'b' },
  });
  await world.advance(0.05);
  assert.equal(world.lifecycle.stages.queues.get('r/a')?.has(mover), false);
  await world.stop();
});

test('a zone without nodes is forgotten, metrics included', async () => {
  const world = aZonedWorld({ a: 1, b: 3 });
  world.start();
  await world.advance(1);
  assert.equal(world.meter.series.get('node_collector_zone_size{zone="r/a"}'), 1);
  world.removeNode('a-0');
  await world.advance(5);
  assert.equal(world.meter.series.has('node_collector_zone_size{zone="r/a"}'), false);
  assert.deepEqual(world.lifecycle.stages.zones.zones(), ['r/b']);
  await world.stop();
});
