// Cases in which a silent node once stayed Ready=True and untainted.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { defaultPodGcOptions } from '../../../src/controller/model/options.ts';
import { ControllerWorld } from '../../support/controller-world.ts';
import { PacedLanes } from '../../support/paced-lanes.ts';
import { aWorldOf, names } from '../../support/zoned-world.ts';

function forgotten(world: ControllerWorld, nodes: readonly string[]): readonly string[] {
  return nodes.filter((name) => world.ready(name) === 'True');
}

test('1,800 nodes at 20 requests per second: of 1,500 silent nodes, a quarter of which renew once, every one is detected', async () => {
  await using world = new ControllerWorld({}, {}, defaultPodGcOptions, (clock) => new PacedLanes(clock, 20, 30));
  const all = names(1_800);
  world.addNodes(all, (place) => ({ zone: `z${place % 3}` }));
  await world.running(10);
  const silent = all.slice(0, 1_500);
  await world.silentFor(60, ...silent);
  const once = silent.filter((_, place) => place % 4 === 0);
  world.renewOnce(...once);
  await world.advance(10 * 60);
  assert.deepEqual(forgotten(world, silent), []);
  world.recover(...silent);
  await world.advance(10 * 60);
  const { zones } = world.lifecycle.stages;
  const unready = zones.zones().map((zone) => zones.plan(zone)?.why.unready);
  assert.deepEqual(unready, [0, 0, 0]);
});

test('a node that renews once between a confirmed silence and the write of Unknown is still detected', async () => {
  await using world = await aWorldOf(9, 0, { nodeMonitorGracePeriodMs: 20_000 }).running(30);
  world.goSilent('n0');
  world.failNext('patch', 'nodes', 'unavailable', 20);
  await world.advance(26);
  world.renewOnce('n0');
  await world.advance(3_600);
  assert.equal(world.ready('n0'), 'Unknown');
  assert.deepEqual(world.taints('n0'), ['unreachable:NoExecute', 'unreachable:NoSchedule']);
});

test('a node that renews before Unknown was written counts as ready again at once', async () => {
  await using world = new ControllerWorld();
  world.addNodes(names(5), { zone: 'a' });
  await world.running(10);
  world.goSilent('n0');
  world.failNext('patch', 'nodes', 'unavailable', 1_000);
  await world.advance(55);
  const unready = (): number | undefined => world.lifecycle.stages.zones.plan('r/a')?.why.unready;
  assert.equal(unready(), 1);
  world.renewing('n0');
  await world.advance(0.1);
  assert.equal(unready(), 0);
});

test('a node whose deadline was lost is found by the resync and counted', async () => {
  await using world = await aWorldOf(4).running(20);
  const { health } = world.lifecycle.stages;
  health.schedule('n0', { kind: 'silent', silentMs: 0, graceMs: 0, rule: 'monitor', conditions: [] }, 0);
  assert.equal(world.lifecycle.stages.monitor.isCovered('n0'), false);
  await world.silentFor(120, 'n0');
  assert.equal(world.meter.read().get('node_lifecycle_uncovered_nodes_total'), 1);
  assert.equal(world.ready('n0'), 'Unknown');
});

test('one lease that cannot be read does not block the marking of other nodes, and its own node only for a minute', async () => {
  await using world = await aWorldOf(6).running(20);
  world.unreadableLeases.add('n0');
  await world.silentFor(60, 'n0', 'n1');
  assert.deepEqual([world.ready('n0'), world.ready('n1')], ['True', 'Unknown']);
  await world.advance(60);
  assert.equal(world.ready('n0'), 'Unknown');
  assert.equal(world.decided('silence-confirmed-by-cache').length, 0, 'a list of all leases has shown it');
  assert.equal(world.decided('confirmation-held').length, 1);
});

test('404 responses of a proxy to the writes for a silent node do not end the work on it', async () => {
  await using world = new ControllerWorld();
  for (const name of ['n0', 'n1', 'n2', 'n3']) world.addNode(name);
  world.addPod('web', 'n0');
  world.renewing('n0', 'n1', 'n2', 'n3');
  await world.running(20);
  world.goSilent('n0');
  world.failNext('patch', 'nodes', 'not-found', 3);
  world.failNext('patch', 'pods', 'not-found', 1);
  world.failNext('delete', 'pods', 'conflict', 1);
  await world.advance(120);
  assert.equal(world.ready('n0'), 'Unknown');
  assert.deepEqual(world.taints('n0'), ['unreachable:NoExecute', 'unreachable:NoSchedule']);
  assert.deepEqual(world.evicted(), ['web']);
});

function passes(world: ControllerWorld): number {
  const durations = world.meter.observations.get('node_collector_update_all_nodes_health_duration_seconds');
  assert.ok(durations !== undefined, 'passes are counted by their durations');
  return durations.length;
}

test('heartbeats cause no pass: 300 nodes whose deadlines are due at 300 times', async () => {
  await using world = new ControllerWorld();
  world.start();
  for (const name of names(300)) {
    world.addNode(name);
    world.renewOnce(name);
    await world.advance(0.1);
  }
  world.renewing(...names(300));
  await world.advance(30);
  const before = passes(world);
  await world.advance(100);
  assert.ok(passes(world) - before <= 60, `${passes(world) - before} passes in 100 s`);
});

test('nodes that stay Unknown while their leases are renewed cause no pass for each renewal', async () => {
  await using world = await aWorldOf(50).running(20);
  await world.silentFor(80, ...names(20));
  assert.equal(world.ready('n0'), 'Unknown');
  const before = passes(world);
  for (let seconds = 0; seconds < 100; seconds += 1) {
    world.renewOnce(...names(20));
    await world.advance(1);
  }
  assert.ok(passes(world) - before <= 80, `${passes(world) - before} passes in 100 s`);
});

test('while the clock stands still just before a deadline: few passes, and the node is found as soon as the clock reaches it', async () => {
  await using world = await aWorldOf(4).running(20);
  world.goSilent('n0');
  const { health, freshness } = world.lifecycle.stages;
  const deadlineMs = (health.get('n0')?.heartbeatAtMs ?? 0) + world.options.nodeMonitorGracePeriodMs + 1;
  const beforeMs = (): number => deadlineMs - freshness.nowMs();
  await world.advance((beforeMs() - 5_010) / 1_000);
  world.loseContact();
  await world.advance(10);
  assert.ok(beforeMs() > 0 && beforeMs() <= 20, 'the clock stands still just before the deadline');
  const passesBefore = passes(world);
  await world.advance(100);
  assert.ok(passes(world) - passesBefore <= 30, `${passes(world) - passesBefore} passes in 100 s`);
  world.restoreContact();
  for (let steps = 0; steps < 20_000 && beforeMs() > 0; steps += 1) await world.clock.advance(1);
  await world.clock.advance(60);
  assert.equal(world.ready('n0'), 'Unknown');
});

test('a stream of nodes that lags for longer than an answer is kept leaves no node uncovered', async () => {
  await using world = await aWorldOf(4).running(20);
  world.nodesFrozen = true;
  await world.silentFor(60, 'n0');
  assert.equal(world.ready('n0'), 'Unknown');
  const { monitor } = world.lifecycle.stages;
  for (let seconds = 0; seconds < 900; seconds += 1) {
    await world.advance(1);
    assert.ok(monitor.isCovered('n0'), `uncovered after ${world.seconds()} s`);
  }
  assert.equal(world.meter.read().get('node_lifecycle_uncovered_nodes_total'), 0);
  const unknowns = world.writes.filter(({ name, subresource }) => name === 'n0' && subresource === 'status');
  assert.equal(unknowns.length, 1);
  assert.equal(world.decided('node-silent').length, 1);
  world.nodesFrozen = false;
  world.syncCaches();
  await world.advance(10);
  assert.equal(world.lifecycle.stages.health.hasDeadline('n0'), false, 'nothing is due until it renews');
});
