import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ControllerWorld } from '../../../support/controller-world.ts';
import { aZonedWorld, names } from '../../../support/zoned-world.ts';

const all = (sizes: Readonly<Record<string, number>>): readonly string[] =>
  Object.entries(sizes).flatMap(([zone, size]) => names(size, `${zone}-`));

function withPods(world: ControllerWorld, nodes: readonly string[], each = 1): void {
  for (const node of nodes) for (const pod of names(each, `${node}-pod-`)) world.addPod(pod, node, []);
}

function marked(world: ControllerWorld): number {
  return world.kinds().filter((kind) => kind === 'pod-marked-not-ready').length;
}

function noExecute(world: ControllerWorld, nodes: readonly string[]): number {
  return nodes.filter((name) => world.taints(name).includes('unreachable:NoExecute')).length;
}

test('the way to the API server fails for two zones of three: nodes become Unknown, pods stay ready, nobody is tainted', async () => {
  const sizes = { a: 4, b: 4, c: 1 };
  const world = aZonedWorld(sizes, { controlPlanePathFailureHoldMs: 120_000 });
  withPods(world, all(sizes));
  world.start();
  await world.advance(20);
  world.goDark(...names(4, 'a-'), ...names(4, 'b-'));
  await world.advance(100);
  for (const name of [...names(4, 'a-'), ...names(4, 'b-')]) {
    assert.equal(world.ready(name), 'Unknown', 'the truth is told');
    assert.deepEqual(world.taints(name), ['unreachable:NoSchedule']);
  }
  assert.equal(marked(world), 0);
  assert.deepEqual(world.evicted(), []);
  const held = world.decisions.map(({ decision }) => decision).filter(({ kind }) => kind === 'acts-held');
  assert.equal(held.length, 1);
  assert.deepEqual(
    world.nodeEvents.drafts.filter(({ reason }) => reason === 'ControlPlanePathFailure').map(({ message }) => message),
    [
      'ControlPlanePathFailure: 8 of 9 nodes in 2 of 3 zones fell silent within 12 s; for 120 s at the most their pods stay ready and get no NoExecute taint',
    ],
  );
  assert.equal(world.meter.series.get('node_lifecycle_outage_hold{outage="ControlPlanePathFailure"}'), 1);
  world.renewing(...all(sizes));
  for (const name of all(sizes)) world.post(name, 'True');
  await world.advance(30);
  assert.equal(marked(world), 0, 'services never lost an endpoint');
  assert.deepEqual(
    all(sizes).filter((name) => world.ready(name) !== 'True' || world.taints(name).length > 0),
    [],
  );
  const resumed = world.decisions.map(({ decision }) => decision).find(({ kind }) => kind === 'acts-resumed');
  assert.ok(resumed?.kind === 'acts-resumed' && resumed.ending === 'recovered');
  assert.equal(world.meter.series.get('node_lifecycle_outage_hold{outage="ControlPlanePathFailure"}'), 0);
  await world.stop();
});

test('the hold is bounded: at its end nodes that are still silent are treated like any other, and it is said', async () => {
  const sizes = { a: 4, b: 4, c: 1 };
  const world = aZonedWorld(sizes, { controlPlanePathFailureHoldMs: 60_000 });
  withPods(world, all(sizes));
  world.start();
  world.goDark(...names(4, 'a-'), ...names(4, 'b-'));
  await world.advance(109);
  assert.equal(marked(world), 0);
  assert.equal(noExecute(world, all(sizes)), 0);
  await world.advance(3);
  assert.equal(marked(world), 8);
  assert.equal(noExecute(world, all(sizes)), 2, 'one a zone, at the rate of a zone that is dark');
  await world.advance(120);
  assert.equal(world.kinds().filter((kind) => kind === 'acts-held').length, 1, 'and the same outage is not held again');
  assert.ok(world.nodeEvents.drafts.some(({ reason }) => reason === 'ControlPlanePathFailureHoldExpired'));
  await world.stop();
});

test('when enough nodes are heard again the rest gets a moment to follow, and is then treated like any other', async () => {
  const sizes = { a: 5, b: 5 };
  const world = aZonedWorld(sizes);
  withPods(world, all(sizes));
  world.start();
  world.goDark(...all(sizes));
  await world.advance(70);
  const back = names(5, 'a-');
  world.renewing(...back);
  for (const name of back) world.post(name, 'True');
  await world.advance(10);
  assert.equal(marked(world), 0);
  await world.advance(9);
  assert.equal(marked(world), 5, 'the pods of zone b, which is dead');
  await world.stop();
});

test('a restart during the hold does not end it, and does not begin it anew', async () => {
  const sizes = { a: 4, b: 4, c: 1 };
  const world = aZonedWorld(sizes, { controlPlanePathFailureHoldMs: 90_000 });
  withPods(world, all(sizes));
  world.start();
  world.goDark(...names(4, 'a-'), ...names(4, 'b-'));
  await world.advance(80);
  await world.restart();
  await world.advance(55);
  assert.equal(marked(world), 0);
  assert.equal(noExecute(world, all(sizes)), 0);
  await world.advance(10);
  assert.equal(marked(world), 8);
  assert.ok(noExecute(world, all(sizes)) > 0);
  await world.stop();
});

test('a zone that fails alone is a ZoneFailure: no hold, and services lose its endpoints at once', async () => {
  const sizes = { a: 4, b: 4, c: 4 };
  const world = aZonedWorld(sizes);
  withPods(world, all(sizes));
  world.start();
  world.goDark(...names(4, 'a-'));
  await world.advance(52);
  assert.equal(marked(world), 4);
  const silent = world.decisions.map(({ decision }) => decision).filter((decision) => decision.kind === 'node-silent');
  assert.deepEqual(
    [...new Set(silent.map((decision) => decision.kind === 'node-silent' && decision.outage))],
    ['ZoneFailure'],
  );
  assert.deepEqual(
    world.nodeEvents.drafts.filter(({ reason }) => reason === 'ZoneFailure').map(({ message }) => message),
    ['ZoneFailure: 4 of 4 nodes of zone r/a fell silent within 12 s'],
  );
  assert.equal(world.meter.series.get('node_lifecycle_silent_nodes_total{outage="ZoneFailure"}'), 4);
  await world.stop();
});

test('pods are marked node by node, at the rate of the zone, and each zone has its own', async () => {
  const sizes = { a: 10, b: 4, c: 40 };
  const world = aZonedWorld(sizes, { podMarkingRate: 1 });
  withPods(world, all(sizes), 3);
  world.start();
  world.goDark(...names(10, 'a-'));
  await world.advance(50.2);
  assert.equal(marked(world), 3, 'one node at once');
  assert.equal(world.meter.series.get('node_lifecycle_marking_queue_depth{zone="r/a"}'), 9);
  await world.advance(4);
  assert.equal(marked(world), 15);
  world.goDark('b-0');
  await world.advance(51);
  assert.equal(marked(world), 33, 'the other zone did not wait for this one');
  await world.stop();
});

test('a node that is heard again before its turn keeps its pods ready, and its next silence needs a turn of its own', async () => {
  const sizes = { a: 3, b: 10 };
  const world = aZonedWorld(sizes, { podMarkingRate: 0.1 });
  withPods(world, all(sizes));
  world.start();
  world.goDark(...names(3, 'a-'));
  await world.advance(51);
  assert.equal(marked(world), 1);
  world.renewing('a-1');
  world.post('a-1', 'True');
  await world.advance(30);
  const nodes = world.decisions
    .map(({ decision }) => decision)
    .flatMap((decision) => (decision.kind === 'pod-marked-not-ready' ? [decision.node] : []));
  assert.deepEqual(nodes, ['a-0', 'a-2']);
  await world.stop();
});

test('nodes that have no pods to mark spend no turn', async () => {
  const sizes = { a: 4, b: 10 };
  const world = aZonedWorld(sizes, { podMarkingRate: 0.01 });
  withPods(world, ['a-3']);
  world.start();
  world.goDark(...names(4, 'a-'));
  await world.advance(52);
  assert.equal(marked(world), 1);
  await world.stop();
});

test('with a short grace period too, nodes that stop in one moment but renew at different times are one event', async () => {
  const world = aZonedWorld({ a: 6, b: 6 }, { nodeMonitorGracePeriodMs: 26_000 });
  withPods(world, all({ a: 6, b: 6 }));
  world.start();
  world.goDark(...names(6, 'a-'), ...names(6, 'b-'));
  for (const [place, name] of [...names(6, 'a-'), ...names(6, 'b-')].entries()) {
    if (place % 3 === 0) await world.advance(3);
    world.post(name, 'True');
  }
  await world.advance(60);
  const taken = world.decisions.flatMap(({ decision }) => (decision.kind === 'node-silent' ? [decision.outage] : []));
  assert.deepEqual(taken, Array(12).fill('ControlPlanePathFailure'));
  assert.equal(marked(world), 0);
  await world.stop();
});
