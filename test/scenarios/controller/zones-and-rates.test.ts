import assert from 'node:assert/strict';
import { test } from 'node:test';
import { describeDecision } from '../../../src/controller/decision-log/describe-decision.ts';
import type { ControllerWorld } from '../../support/controller-world.ts';
import { aZonedWorld, names } from '../../support/zoned-world.ts';

const taintedNodes = (world: ControllerWorld, zone: string, size: number): number =>
  world.tainted(names(size, `${zone}-`)).length;

test('a normal zone gets one NoExecute taint at once and the next after 1/rate', async () => {
  await using world = aZonedWorld({ a: 10, b: 3 }).start();
  await world.silentFor(51, 'a-0', 'a-1');
  assert.equal(taintedNodes(world, 'a', 10), 1);
  await world.advance(8.8);
  assert.equal(taintedNodes(world, 'a', 10), 1);
  await world.advance(1.5);
  assert.equal(taintedNodes(world, 'a', 10), 2);
});

test('a small zone with mostly silent nodes stops, reports why, and resumes at its rate when it recovers', async () => {
  await using world = aZonedWorld({ a: 10, b: 3 }).start();
  await world.silentFor(120, ...names(6, 'a-'));
  // Six nodes became silent at the same time: the zone was evaluated before any taint.
  assert.equal(taintedNodes(world, 'a', 10), 0);
  assert.equal(world.lifecycle.stages.zones.condition('r/a'), 'partially-disrupted');
  const [held] = world.decided('taints-held');
  assert.deepEqual([held?.why.rule, held?.why.unready, held?.waiting], ['small-zone-disrupted', 6, 6]);
  for (const name of names(6, 'a-')) assert.deepEqual(world.taints(name), ['unreachable:NoSchedule']);
  world.recover(...names(4, 'a-'));
  await world.advance(9);
  assert.equal(taintedNodes(world, 'a', 10), 0, 'resuming starts with an empty bucket');
  await world.advance(2);
  assert.equal(taintedNodes(world, 'a', 10), 1);
});

test('a large zone with mostly silent nodes continues at the secondary rate', async () => {
  await using world = await aZonedWorld({ a: 51, b: 3 }).running(1);
  await world.silentFor(60, ...names(30, 'a-'));
  assert.equal(world.lifecycle.stages.zones.plan('r/a')?.ratePerSecond, 0.01);
  assert.equal(taintedNodes(world, 'a', 51), 1, 'the bucket was full');
  await world.advance(85);
  assert.equal(taintedNodes(world, 'a', 51), 1, 'the next one 100 s after the first');
  await world.advance(10);
  assert.equal(taintedNodes(world, 'a', 51), 2);
});

test('in a full disruption nothing is tainted or evicted, and NoExecute taints are removed', async () => {
  await using world = aZonedWorld({ a: 4, b: 4 });
  world.addPod('patient', 'a-0', [{ operator: 'Exists', effect: 'NoExecute', tolerationSeconds: 70 }]);
  for (const name of names(4, 'b-')) world.addPod(`on-${name}`, name);
  await world.start().silentFor(60, 'a-0');
  assert.deepEqual(world.taints('a-0'), ['unreachable:NoExecute', 'unreachable:NoSchedule']);
  await world.silentFor(600, ...names(4, 'a-'), ...names(4, 'b-'));
  assert.equal(world.lifecycle.stages.zones.fullDisruption, true);
  for (const name of [...names(4, 'a-'), ...names(4, 'b-')])
    assert.deepEqual(world.taints(name), ['unreachable:NoSchedule'], name);
  assert.deepEqual(world.evicted(), []);
  const entered = world.decided('full-disruption-entered').map(describeDecision);
  assert.equal(entered.length, 1);
  assert.match(entered[0] ?? '', /^all zones fully disrupted \(2\).*; evictions stopped, NoExecute taints removed$/);
});

test('in a full disruption the NoExecute taint of a node is removed by one request', async () => {
  await using world = aZonedWorld({ a: 4, b: 4 }).start();
  await world.silentFor(60, 'a-0');
  const slot = Promise.withResolvers<void>();
  world.lanes.gates.recovery = slot.promise;
  await world.silentFor(120, ...names(4, 'a-'), ...names(4, 'b-'));
  const { pending } = world.lanes;
  slot.resolve();
  await world.advance(1);
  assert.equal(pending, 1);
  assert.deepEqual(world.taints('a-0'), ['unreachable:NoSchedule']);
});

test('when one zone has a ready node again every node gets a full grace period, and then the rate applies to silent nodes', async () => {
  await using world = aZonedWorld({ a: 4, b: 4 }, { controlPlanePathFailureHoldMs: 0 }).start();
  await world.silentFor(100, ...names(4, 'a-'), ...names(4, 'b-'));
  assert.equal(world.lifecycle.stages.zones.fullDisruption, true);
  for (const name of names(4, 'b-')) world.post(name, 'True');
  await world.advance(9);
  assert.equal(world.lifecycle.stages.zones.fullDisruption, false);
  assert.equal(taintedNodes(world, 'a', 4), 0);
  await world.advance(2.5);
  assert.equal(taintedNodes(world, 'a', 4), 1);
  assert.equal(world.ready('b-0'), 'True', 'its lease is still old, but the full disruption does not count against it');
  world.renewing(...names(4, 'b-'));
  await world.advance(60);
  assert.equal(world.ready('b-0'), 'True');
  assert.deepEqual(world.taints('b-0'), []);
});

test('a healthy new zone ends the full disruption for the others too', async () => {
  await using world = aZonedWorld({ a: 3 }).start();
  await world.silentFor(70, ...names(3, 'a-'));
  assert.equal(world.lifecycle.stages.queues.get('r/a')?.ratePerSecond, 0);
  world.addNode('c-0', { zone: 'c' });
  world.renewing('c-0');
  await world.advance(1);
  assert.equal(world.lifecycle.stages.queues.get('r/a')?.ratePerSecond, 0.1);
  await world.advance(19);
  assert.equal(taintedNodes(world, 'a', 3), 1);
});

test('a rate of exactly 1.0 can be stopped and resumed', async () => {
  await using world = aZonedWorld({ a: 6, b: 3 }, { nodeEvictionRate: 1 }).start();
  await world.silentFor(60, ...names(4, 'a-'));
  assert.equal(world.lifecycle.stages.queues.get('r/a')?.ratePerSecond, 0);
  world.renewing('a-2', 'a-3');
  world.post('a-2', 'True');
  world.post('a-3', 'True');
  await world.advance(5);
  assert.equal(taintedNodes(world, 'a', 6), 2);
});

test('a restart does not grant a token: existing taints show when the last one was spent', async () => {
  await using world = aZonedWorld({ a: 20 }).start();
  await world.silentFor(51, ...names(4, 'a-'));
  assert.equal(taintedNodes(world, 'a', 4), 1);
  for (let restarts = 0; restarts < 4; restarts += 1) {
    await world.restart();
    await world.advance(2);
  }
  assert.equal(taintedNodes(world, 'a', 4), 1);
  await world.advance(3.5);
  assert.equal(taintedNodes(world, 'a', 4), 2, 'ten seconds and the second that timestamps are truncated by');
});

test('a node whose zone labels change leaves the old queue', async () => {
  await using world = aZonedWorld({ a: 10, b: 3 }).start();
  await world.silentFor(51, 'a-0', 'a-1', 'a-2');
  const waiting = world.lifecycle.stages.queues.get('r/a')?.keysInOrder() ?? [];
  assert.equal(waiting.length, 2);
  const mover = waiting[0] ?? '';
  world.setLabels(mover, { 'topology.kubernetes.io/region': 'r', 'topology.kubernetes.io/zone': 'b' });
  await world.advance(0.05);
  assert.equal(world.lifecycle.stages.queues.get('r/a')?.has(mover), false);
});

test('a zone without nodes is removed, metrics included', async () => {
  await using world = await aZonedWorld({ a: 1, b: 3 }).running(1);
  assert.equal(world.meter.series.get('node_collector_zone_size{zone="r/a"}'), 1);
  world.removeNode('a-0');
  await world.advance(5);
  assert.equal(world.meter.series.has('node_collector_zone_size{zone="r/a"}'), false);
  assert.deepEqual(world.lifecycle.stages.zones.zones(), ['r/b']);
});

test('a zone that vanishes and comes back grants no token: its last taint counts', async () => {
  await using world = aZonedWorld({ a: 1, b: 3 }, { nodeEvictionRate: 0.01 });
  world.start();
  await world.silentFor(70, 'a-0');
  assert.deepEqual(world.taints('a-0'), ['unreachable:NoExecute', 'unreachable:NoSchedule']);
  world.removeNode('a-0');
  await world.advance(10);
  world.addNode('a-1', { zone: 'a', ready: 'False' });
  world.renewing('a-1');
  await world.advance(60);
  assert.deepEqual(world.taints('a-1'), ['not-ready:NoSchedule'], 'two taints in a minute at 0.01 nodes/s');
  await world.advance(60);
  assert.deepEqual(world.taints('a-1'), ['not-ready:NoExecute', 'not-ready:NoSchedule']);
});
