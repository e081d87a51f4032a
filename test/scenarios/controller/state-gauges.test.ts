// Gauges of the controller's state that are computed on a scrape: zones, queues, holds.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { RateLimitedQueue } from '../../../src/machinery/queueing/rate-limited-queue.ts';
import { TokenBucket } from '../../../src/machinery/queueing/token-bucket.ts';
import type { ControllerWorld } from '../../support/controller-world.ts';
import { aZonedWorld, names } from '../../support/zoned-world.ts';

function gauge(world: ControllerWorld, name: string, labels: string): number | undefined {
  return world.meter.read().get(`node_lifecycle_${name}{${labels}}`);
}

function stateOf(world: ControllerWorld, zone: string): readonly string[] {
  return ['Initial', 'Normal', 'PartialDisruption', 'FullDisruption'].filter(
    (state) => gauge(world, 'zone_state', `zone="${zone}",state="${state}"`) === 1,
  );
}

function held(world: ControllerWorld): Readonly<Record<string, number>> {
  const found = [...world.meter.read()].filter(([key]) => key.startsWith('node_lifecycle_held_nodes'));
  return Object.fromEntries(
    found.map(([key, count]) => [/"(.+)"/.exec(key)?.[1] ?? '', count] as const).filter(([, count]) => count > 0),
  );
}

test('the state of each zone is 1 for the current one, with the names of kube-controller-manager', async () => {
  await using world = await aZonedWorld({ a: 10, b: 3 }).running(1);
  assert.deepEqual([stateOf(world, 'r/a'), stateOf(world, 'r/b')], [['Normal'], ['Normal']]);
  await world.silentFor(60, ...names(6, 'a-'), ...names(3, 'b-'));
  assert.deepEqual([stateOf(world, 'r/a'), stateOf(world, 'r/b')], [['PartialDisruption'], ['FullDisruption']]);
  assert.equal(gauge(world, 'zone_state', 'zone="r/a",state="Normal"'), 0);
});

test('a zone that has not been evaluated yet is Initial', () => {
  const world = aZonedWorld({ a: 1 });
  world.lifecycle.stages.zones.place('a-0', 'r/a', 'ready');
  assert.deepEqual(stateOf(world, 'r/a'), ['Initial']);
  world.lifecycle.stages.zones.evaluate();
  assert.deepEqual(stateOf(world, 'r/a'), ['Normal']);
});

test('tokens and the age of the oldest queued node are those at the time of the scrape', async () => {
  await using world = await aZonedWorld({ a: 20 }).running(1);
  assert.equal(gauge(world, 'zone_eviction_tokens', 'zone="r/a"'), 1);
  assert.equal(gauge(world, 'taint_queue_oldest_seconds', 'zone="r/a"'), 0);
  await world.silentFor(51.5, 'a-0', 'a-1');
  const waited = gauge(world, 'taint_queue_oldest_seconds', 'zone="r/a"') ?? -1;
  const tokens = gauge(world, 'zone_eviction_tokens', 'zone="r/a"') ?? -1;
  assert.ok(waited >= 0 && waited < 3, `${waited} s`);
  await world.advance(2);
  assert.ok(Math.abs((gauge(world, 'taint_queue_oldest_seconds', 'zone="r/a"') ?? -1) - waited - 2) < 1e-6);
  assert.ok(Math.abs((gauge(world, 'zone_eviction_tokens', 'zone="r/a"') ?? -1) - tokens - 0.2) < 1e-6);
  await world.advance(10);
  assert.equal(gauge(world, 'taint_queue_oldest_seconds', 'zone="r/a"'), 0, 'it was served');
});

test('a postponed retry does not reset the age of a queued node', () => {
  const line = new RateLimitedQueue(new TokenBucket(1, 1, 0));
  assert.equal(line.oldestSinceMs(), undefined);
  line.add('a', 1_000);
  line.add('b', 2_000);
  line.add('a', 5_000);
  line.postpone('a', 9_000);
  assert.equal(line.oldestSinceMs(), 1_000);
  line.remove('a');
  assert.equal(line.oldestSinceMs(), 2_000);
  line.clear();
  assert.equal(line.oldestSinceMs(), undefined);
});

test('held nodes: a small zone that is stopped', async () => {
  await using world = await aZonedWorld({ a: 10, b: 3 }).running(1);
  assert.deepEqual(held(world), {});
  await world.silentFor(60, ...names(6, 'a-'));
  assert.deepEqual(held(world), { 'zone-stopped': 6 });
  world.recover(...names(6, 'a-'));
  await world.advance(10);
  assert.deepEqual(held(world), {});
});

test('held nodes: path failure, for taints and marking together, and then a full disruption', async () => {
  await using world = aZonedWorld({ a: 4, b: 4, c: 1 }, { controlPlanePathFailureHoldMs: 300_000 });
  for (const name of [...names(4, 'a-'), ...names(4, 'b-')]) world.addPod(`pod-of-${name}`, name);
  await world.running(20);
  await world.silentFor(100, ...names(4, 'a-'), ...names(4, 'b-'));
  assert.deepEqual(held(world), { outage: 8 });
  assert.equal(gauge(world, 'marking_queue_depth', 'zone="r/a"'), 4);
  const waited = gauge(world, 'marking_queue_oldest_seconds', 'zone="r/a"') ?? 0;
  assert.ok(waited > 40 && waited < 50, `${waited} s`);
  await world.silentFor(70, 'c-0');
  assert.deepEqual(held(world), { 'full-disruption': 9 });
  world.recover(...names(4, 'a-'), ...names(4, 'b-'), 'c-0');
  await world.advance(30);
  assert.deepEqual(held(world), {});
  assert.equal(gauge(world, 'marking_queue_oldest_seconds', 'zone="r/a"'), undefined, 'no node waits');
});

test('held nodes: stale watches', async () => {
  await using world = await aZonedWorld({ a: 20 }).running(1);
  await world.silentFor(52, 'a-0', 'a-1', 'a-2');
  world.loseContact();
  await world.advance(60);
  assert.deepEqual(held(world), { stale: 2 });
});

test('neither a gauge nor other state is kept for a vanished zone, whatever was queued in it', async () => {
  await using world = aZonedWorld({ a: 3, b: 9 }, { podMarkingRate: 0.01 });
  for (const name of names(3, 'a-')) world.addPod(`pod-of-${name}`, name, [{ operator: 'Exists' }]);
  await world.start().silentFor(60, 'a-0', 'a-1');
  assert.equal(gauge(world, 'marking_queue_depth', 'zone="r/a"'), 1);
  for (const name of names(3, 'a-')) world.removeNode(name);
  await world.advance(10);
  const { marking, queues } = world.lifecycle.stages;
  assert.deepEqual([marking.zones(), queues.zones()], [[], ['r/b']]);
  const left = [...world.meter.read().keys()].filter((key) => key.includes('zone="r/a"'));
  assert.deepEqual(left, ['node_collector_evictions_total{zone="r/a"}'], 'a counter stays: the zone may reappear');
});

test('a scrape of an idle cluster evaluates no node', async () => {
  await using world = await aZonedWorld({ a: 200 }).running(20);
  let looks = 0;
  const { nodes } = world;
  const [get, keys, values] = [nodes.get.bind(nodes), nodes.keys.bind(nodes), nodes.values.bind(nodes)];
  nodes.get = (key) => (looks++, get(key));
  nodes.keys = () => (looks++, keys());
  nodes.values = () => (looks++, values());
  world.meter.read();
  assert.equal(looks, 0);
});
