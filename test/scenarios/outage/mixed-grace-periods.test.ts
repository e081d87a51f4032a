// Nodes fail together if their last heartbeats are close, whatever their grace periods.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { aPolicy, inZone } from '../../support/builders.ts';
import type { ControllerWorld } from '../../support/controller-world.ts';
import { explainNode } from '../../support/explained.ts';
import { aZonedWorld, names } from '../../support/zoned-world.ts';

const edge = aPolicy({ name: 'edge', selector: inZone('e', 'f'), nodeMonitorGracePeriodMs: 180_000 });
const unreachable = ['a', 'b', 'e', 'f'].flatMap((zone) => names(3, `${zone}-`));
const outagesOf = (world: ControllerWorld): readonly string[] =>
  world.decided('node-silent').map(({ node, outage }) => `${node} ${outage}`);

test('a path failure of nodes of which half have a long grace period is one: no node is tainted NoExecute', async () => {
  await using world = aZonedWorld({ a: 3, b: 3, e: 3, f: 3, c: 1 }, { policies: [edge] });
  for (const node of unreachable) world.addPod(`${node}-pod`, node, []);
  await world.running(20);
  await world.silentFor(190, ...unreachable);
  assert.deepEqual(
    outagesOf(world),
    unreachable.map((node) => `${node} ControlPlanePathFailure`),
  );
  assert.equal(world.decided('acts-held').length, 1);
  assert.deepEqual([world.decided('pod-marked-not-ready').length, world.evicted()], [0, []]);
  assert.deepEqual([...new Set(unreachable.flatMap((node) => world.taints(node)))], ['unreachable:NoSchedule']);
});

test('the same after a restart, and the hold ends when it would have', async () => {
  await using world = aZonedWorld({ a: 3, b: 3, e: 3, f: 3, c: 1 }, { policies: [edge] });
  for (const node of unreachable) world.addPod(`${node}-pod`, node, []);
  await world.running(20);
  await world.silentFor(100, ...unreachable);
  await world.restart();
  await world.advance(200);
  assert.deepEqual([world.decided('pod-marked-not-ready').length, world.evicted()], [0, []]);
  await world.advance(120);
  assert.ok(world.decided('pod-marked-not-ready').length > 0, 'at the end of the hold they are handled as usual');
});

/** Silent nodes by class. */
function classes(world: ControllerWorld): Readonly<Record<string, number>> {
  const found = ['NodeFailure', 'ZoneFailure', 'ControlPlanePathFailure'].map((outage) => {
    return [outage, world.meter.series.get(`node_lifecycle_silent_nodes_total{outage="${outage}"}`) ?? 0] as const;
  });
  return Object.fromEntries(found.filter(([, count]) => count > 0));
}

test('one silent node with a short grace period is a NodeFailure, and is tainted in time', async () => {
  const short = aPolicy({ name: 'short', selector: inZone('short'), nodeMonitorGracePeriodMs: 12_000 });
  await using world = aZonedWorld({ short: 1, a: 20 }, { policies: [short] });
  await world.running(20);
  await world.silentFor(22, 'short-0');
  assert.deepEqual(classes(world), { NodeFailure: 1 });
  assert.deepEqual([...world.taints('short-0')].sort(), ['unreachable:NoExecute', 'unreachable:NoSchedule']);
});

for (const [title, options] of [
  ['of the controller', { nodeMonitorGracePeriodMs: 12_000 }],
  ['of a policy', { policies: [aPolicy({ name: 'all', selector: inZone('a'), nodeMonitorGracePeriodMs: 12_000 })] }],
] as const) {
  for (const phaseS of [0, 2, 5, 8]) {
    test(`one silent node of twenty, grace period of 12 s ${title}, ${phaseS} s before the others: a NodeFailure`, async () => {
      await using world = aZonedWorld({ a: 20 }, options);
      world.addPod('pod', 'a-0');
      await world.running(20);
      world.goSilent('a-0');
      await world.advance(phaseS);
      world.goSilent('a-0');
      await world.advance(22);
      assert.deepEqual([classes(world), world.decided('acts-held')], [{ NodeFailure: 1 }, []]);
      assert.deepEqual([world.tainted(['a-0']), world.podReady('pod')], [['a-0'], 'False']);
    });
  }
}

test('a path failure of nodes with a grace period of 12 s, last heartbeats 1 s apart, is one from the first', async () => {
  const short = aPolicy({ name: 'short', selector: inZone('a', 'b'), nodeMonitorGracePeriodMs: 12_000 });
  await using world = aZonedWorld({ a: 5, b: 5, c: 1 }, { policies: [short] });
  const failed = [...names(5, 'a-'), ...names(5, 'b-')];
  for (const node of failed) world.addPod(`${node}-pod`, node);
  await world.running(20);
  world.goSilent(...failed);
  for (const place of [0, 1, 2, 3, 4])
    for (const zone of ['a', 'b']) {
      world.renewOnce(`${zone}-${place}`);
      await world.advance(1);
    }
  await world.advance(4);
  assert.equal(world.ready('a-0'), 'Unknown');
  const [hold] = explainNode(world, 'a-0').holds;
  assert.equal(hold?.kind, 'unclassified');
  await world.advance(60);
  assert.deepEqual(classes(world), { ControlPlanePathFailure: 10 });
  assert.deepEqual([world.tainted(failed), world.decided('pod-marked-not-ready')], [[], []]);
});

test('nodes that renew every 60 s and in step did not fail with one that stops: a NodeFailure', async () => {
  await using world = aZonedWorld({ e: 3, f: 3, a: 1 }, { policies: [edge] });
  const slow = [...names(3, 'e-'), ...names(3, 'f-')];
  await world.running(20);
  world.goSilent(...slow);
  for (let atS = 0; atS < 240; atS += 5) {
    if (atS % 60 === 0) world.renewOnce(...slow);
    if (atS === 120) world.goSilent('a-0');
    await world.advance(5);
  }
  assert.deepEqual([classes(world), world.decided('acts-held')], [{ NodeFailure: 1 }, []]);
  assert.deepEqual(world.tainted(['a-0']), ['a-0']);
});

for (const restartAtS of [127, 172])
  test(`after a restart ${restartAtS - 120} s later nodes that renew every 60 s did not fail with one that stops`, async () => {
    await using world = aZonedWorld({ e: 3, f: 3, a: 2 }, { policies: [edge] });
    const slow = [...names(3, 'e-'), ...names(3, 'f-')];
    world.renewEvery(60, ...slow);
    world.addPod('pod', 'a-0');
    await world.running(20);
    world.goSilent(...slow);
    for (let atS = 0; atS < 300; atS += 5) {
      if (atS % 60 === 0) world.renewOnce(...slow);
      if (atS === 120) world.goSilent('a-0');
      await world.advance(2);
      if (atS + 2 === restartAtS) await world.restart();
      await world.advance(3);
    }
    assert.deepEqual([world.decided('acts-held'), world.podReady('pod')], [[], 'False']);
    assert.deepEqual([Object.keys(classes(world)), world.tainted(['a-0'])], [['NodeFailure'], ['a-0']]);
  });

/** Six nodes renew every 10 minutes, each at another time, and `a-0` every 10 s until it stops. */
async function aSlowCluster(): Promise<ControllerWorld> {
  const slowly = aPolicy({ name: 'slow', selector: inZone('e', 'f'), nodeMonitorGracePeriodMs: 1_800_000 });
  const world = aZonedWorld({ e: 3, f: 3, a: 1 }, { policies: [slowly] });
  world.addPod('pod', 'a-0');
  world.goSilent(...slowNodes);
  await world.running(0);
  return world;
}

const slowNodes = [...names(3, 'e-'), ...names(3, 'f-')];

/** Each of the slow nodes renews at its times. */
async function renewSlowly(world: ControllerWorld, seconds: number): Promise<void> {
  for (let step = 0; step < seconds / 10; step += 1) {
    for (const [place, node] of slowNodes.entries())
      if (Math.round(world.seconds() - place * 100) % 600 === 0) world.renewOnce(node);
    await world.advance(10);
  }
}

test('a node does not wait for its class longer than its own grace period, however slowly others renew', async () => {
  await using world = await aSlowCluster();
  await renewSlowly(world, 2_400);
  world.goSilent('a-0');
  await renewSlowly(world, 60);
  assert.deepEqual([world.ready('a-0'), world.podReady('pod')], ['Unknown', 'True'], 'the others may have failed too');
  await renewSlowly(world, 50);
  assert.deepEqual([world.podReady('pod'), classes(world)], ['False', { NodeFailure: 1 }]);
});

test('nodes that renew every 60 s, each at another time, fail together: one ControlPlanePathFailure', async () => {
  await using world = aZonedWorld({ e: 3, f: 3, a: 1 }, { policies: [edge] });
  const slow = [...names(3, 'e-'), ...names(3, 'f-')];
  await world.running(20);
  world.goSilent(...slow);
  for (let atS = 0; atS < 240; atS += 5) {
    for (const [place, node] of slow.entries()) if ((atS - place * 10) % 60 === 0) world.renewOnce(node);
    await world.advance(5);
  }
  await world.advance(240);
  assert.deepEqual(classes(world), { ControlPlanePathFailure: 6 });
  assert.deepEqual([world.tainted(slow), world.decided('acts-held').length], [[], 1]);
});

test('a longer grace period during the hold changes nothing, after a restart too', async () => {
  await using world = aZonedWorld({ a: 4, b: 4, e: 1, c: 1 });
  const failed = [...names(4, 'a-'), ...names(4, 'b-'), 'e-0'];
  for (const node of failed) world.addPod(`${node}-pod`, node);
  await world.running(20);
  await world.silentFor(70, ...failed);
  const patient = aPolicy({ name: 'edge', selector: inZone('e'), nodeMonitorGracePeriodMs: 600_000 });
  world.changeOptions({ policies: [patient] });
  await world.advance(10);
  await world.restart();
  await world.advance(200);
  assert.deepEqual([world.decided('pod-marked-not-ready'), world.tainted(failed)], [[], []]);
});

test('one outage is held once, although the nodes that were silent first are deleted meanwhile', async () => {
  const late = aPolicy({ name: 'late', selector: inZone('e', 'f'), nodeMonitorGracePeriodMs: 600_000 });
  await using world = aZonedWorld({ a: 3, b: 3, e: 3, f: 3, c: 1 }, { policies: [late] });
  const first = [...names(3, 'a-'), ...names(3, 'b-')];
  const last = [...names(3, 'e-'), ...names(3, 'f-')];
  await world.running(20);
  await world.silentFor(500, ...first, ...last);
  for (const node of first) world.removeNode(node);
  await world.advance(200);
  assert.equal(world.decided('acts-held').length, 1);
  assert.ok(world.tainted(last).length > 0);
});

test('a node that fails alone later, and is silent sooner, does not begin the hold of the others', async () => {
  const late = aPolicy({ name: 'late', selector: inZone('e', 'f'), nodeMonitorGracePeriodMs: 600_000 });
  await using world = aZonedWorld({ a: 2, e: 4, f: 4 }, { policies: [late] });
  const failed = [...names(4, 'e-'), ...names(4, 'f-')];
  for (const node of failed) world.addPod(`${node}-pod`, node, []);
  await world.running(20);
  world.goSilent(...failed);
  await world.advance(60);
  world.goSilent('a-0');
  await world.advance(560);
  assert.equal(world.decided('acts-held').length, 1);
  assert.deepEqual([world.decided('pod-marked-not-ready').length, world.evicted()], [0, []]);
});
