// What is read of the controller's state when somebody scrapes: zones, lines, holds.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { deriveHeldNodes, type WaitingFacts } from '../../../src/controller/derive-held-nodes.ts';
import { RateLimitedQueue } from '../../../src/queueing/rate-limited-queue.ts';
import { TokenBucket } from '../../../src/queueing/token-bucket.ts';
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

test('the state of each zone is 1 for the one in force, in the words of the reference', async () => {
  const world = aZonedWorld({ a: 10, b: 3 });
  world.start();
  await world.advance(1);
  assert.deepEqual([stateOf(world, 'r/a'), stateOf(world, 'r/b')], [['Normal'], ['Normal']]);
  world.goDark(...names(6, 'a-'), ...names(3, 'b-'));
  await world.advance(60);
  assert.deepEqual([stateOf(world, 'r/a'), stateOf(world, 'r/b')], [['PartialDisruption'], ['FullDisruption']]);
  assert.equal(gauge(world, 'zone_state', 'zone="r/a",state="Normal"'), 0);
  await world.stop();
});

test('a zone that has not been judged yet is Initial', () => {
  const world = aZonedWorld({ a: 1 });
  world.lifecycle.stages.zones.place('a-0', 'r/a', 'ready');
  assert.deepEqual(stateOf(world, 'r/a'), ['Initial']);
  world.lifecycle.stages.zones.judge();
  assert.deepEqual(stateOf(world, 'r/a'), ['Normal']);
});

test('tokens and the age of the oldest in line are those of the moment of reading', async () => {
  const world = aZonedWorld({ a: 20 });
  world.start();
  await world.advance(1);
  assert.equal(gauge(world, 'zone_eviction_tokens', 'zone="r/a"'), 1);
  assert.equal(gauge(world, 'taint_queue_oldest_seconds', 'zone="r/a"'), 0);
  world.goDark('a-0', 'a-1');
  await world.advance(51.5);
  const waited = gauge(world, 'taint_queue_oldest_seconds', 'zone="r/a"') ?? -1;
  const tokens = gauge(world, 'zone_eviction_tokens', 'zone="r/a"') ?? -1;
  assert.ok(waited >= 0 && waited < 3, `${waited} s`);
  await world.advance(2);
  assert.ok(Math.abs((gauge(world, 'taint_queue_oldest_seconds', 'zone="r/a"') ?? -1) - waited - 2) < 1e-6);
  assert.ok(Math.abs((gauge(world, 'zone_eviction_tokens', 'zone="r/a"') ?? -1) - tokens - 0.2) < 1e-6);
  await world.advance(10);
  assert.equal(gauge(world, 'taint_queue_oldest_seconds', 'zone="r/a"'), 0, 'it had its turn');
  await world.stop();
});

test('a retry that is postponed does not make anybody younger', () => {
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
  const world = aZonedWorld({ a: 10, b: 3 });
  world.start();
  await world.advance(1);
  assert.deepEqual(held(world), {});
  world.goDark(...names(6, 'a-'));
  await world.advance(60);
  assert.deepEqual(held(world), { 'zone-stopped': 6 });
  for (const name of names(6, 'a-')) world.post(name, 'True');
  world.renewing(...names(6, 'a-'));
  await world.advance(10);
  assert.deepEqual(held(world), {});
  await world.stop();
});

test('held nodes: the way to the API server, for taints and marking together, and then every zone', async () => {
  const world = aZonedWorld({ a: 4, b: 4, c: 1 }, { controlPlanePathFailureHoldMs: 300_000 });
  for (const name of [...names(4, 'a-'), ...names(4, 'b-')]) world.addPod(`pod-of-${name}`, name);
  world.start();
  await world.advance(20);
  world.goDark(...names(4, 'a-'), ...names(4, 'b-'));
  await world.advance(100);
  assert.deepEqual(held(world), { outage: 8 });
  assert.equal(gauge(world, 'marking_queue_depth', 'zone="r/a"'), 4);
  const waited = gauge(world, 'marking_queue_oldest_seconds', 'zone="r/a"') ?? 0;
  assert.ok(waited > 40 && waited < 50, `${waited} s`);
  world.goDark('c-0');
  await world.advance(70);
  assert.deepEqual(held(world), { 'every-zone-dark': 9 });
  world.renewing(...names(4, 'a-'), ...names(4, 'b-'), 'c-0');
  for (const name of [...names(4, 'a-'), ...names(4, 'b-'), 'c-0']) world.post(name, 'True');
  await world.advance(30);
  assert.deepEqual(held(world), {});
  assert.equal(gauge(world, 'marking_queue_oldest_seconds', 'zone="r/a"'), undefined, 'nobody waits');
  await world.stop();
});

test('held nodes: blind', async () => {
  const world = aZonedWorld({ a: 20 });
  world.start();
  await world.advance(1);
  world.goDark('a-0', 'a-1', 'a-2');
  await world.advance(52);
  const frozenAtMs = world.clock.monotonicMs();
  world.leases.lastFrameAtMs = () => frozenAtMs;
  world.answering = false;
  await world.advance(60);
  assert.deepEqual(held(world), { blind: 2 });
  await world.stop();
});

test('a node is held under the first reason that keeps it', () => {
  const facts: WaitingFacts = {
    withheld: 1,
    everyZoneDark: false,
    unready: 9,
    outageHeld: false,
    blind: false,
    lines: [
      { nodes: 3, ratePerSecond: 0 },
      { nodes: 4, ratePerSecond: 0.1 },
    ],
    waitingForAny: () => 8,
  };
  const of = (over: Partial<WaitingFacts>): readonly number[] => Object.values(deriveHeldNodes({ ...facts, ...over }));
  // unconfirmed, every-zone-dark, outage, blind, zone-stopped
  assert.deepEqual(of({}), [1, 0, 0, 0, 3]);
  assert.deepEqual(of({ blind: true }), [1, 0, 0, 7, 0]);
  assert.deepEqual(of({ blind: true, outageHeld: true }), [1, 0, 8, 0, 0]);
  assert.deepEqual(of({ blind: true, outageHeld: true, everyZoneDark: true }), [1, 9, 0, 0, 0]);
});

test('no gauge of a zone outlives it', async () => {
  const world = aZonedWorld({ a: 3, b: 3 });
  world.start();
  world.goDark('a-0', 'a-1');
  await world.advance(60);
  for (const name of names(3, 'a-')) world.removeNode(name);
  await world.advance(10);
  const left = [...world.meter.read().keys()].filter((key) => key.includes('zone="r/a"'));
  assert.deepEqual(left, ['node_collector_evictions_total{zone="r/a"}'], 'a counter stays: it may come again');
  await world.stop();
});

test('to read a quiet cluster costs no look at any node', async () => {
  const world = aZonedWorld({ a: 200 });
  world.start();
  await world.advance(20);
  let looks = 0;
  const { nodes } = world;
  const [get, keys, values] = [nodes.get.bind(nodes), nodes.keys.bind(nodes), nodes.values.bind(nodes)];
  nodes.get = (key) => (looks++, get(key));
  nodes.keys = () => (looks++, keys());
  nodes.values = () => (looks++, values());
  world.meter.read();
  assert.equal(looks, 0);
  await world.stop();
});
