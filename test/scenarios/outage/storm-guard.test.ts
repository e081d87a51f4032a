import assert from 'node:assert/strict';
import { test } from 'node:test';
import { describeDecision } from '../../../src/controller/decision-log/describe-decision.ts';
import type { ControllerOptions } from '../../../src/controller/model/options.ts';
import type { ControllerWorld } from '../../support/controller-world.ts';
import { aZonedWorld, names } from '../../support/zoned-world.ts';

const all = (sizes: Readonly<Record<string, number>>): readonly string[] =>
  Object.entries(sizes).flatMap(([zone, size]) => names(size, `${zone}-`));

function withPods(world: ControllerWorld, nodes: readonly string[], each = 1): void {
  for (const node of nodes) for (const pod of names(each, `${node}-pod-`)) world.addPod(pod, node, []);
}

/** A pod on each node, or `podsEach`. */
function aWorld(
  sizes: Readonly<Record<string, number>>,
  options: Partial<ControllerOptions> = {},
  podsEach = 1,
): ControllerWorld {
  const world = aZonedWorld(sizes, options);
  withPods(world, all(sizes), podsEach);
  return world;
}

const marked = (world: ControllerWorld): number => world.decided('pod-marked-not-ready').length;

test('the path to the API server fails for two zones of three: nodes become Unknown, pods stay ready, no node is tainted', async () => {
  const sizes = { a: 4, b: 4, c: 1 };
  await using world = aWorld(sizes, { controlPlanePathFailureHoldMs: 120_000 });
  await world.running(20);
  await world.silentFor(100, ...names(4, 'a-'), ...names(4, 'b-'));
  for (const name of [...names(4, 'a-'), ...names(4, 'b-')]) {
    assert.equal(world.ready(name), 'Unknown', 'the condition is written');
    assert.deepEqual(world.taints(name), ['unreachable:NoSchedule']);
  }
  assert.equal(marked(world), 0);
  assert.deepEqual(world.evicted(), []);
  assert.equal(world.decided('acts-held').length, 1);
  assert.deepEqual(world.nodeEventsOf('ControlPlanePathFailure'), [
    'ControlPlanePathFailure: 8 of 9 nodes in 2 of 3 zones sent their last heartbeat within 12s, no control-plane node is visible; their pods stay ready and the nodes get no NoExecute taint for at most 120s',
  ]);
  assert.equal(world.meter.series.get('node_lifecycle_outage_hold{outage="ControlPlanePathFailure"}'), 1);
  world.recover(...all(sizes));
  await world.advance(30);
  assert.equal(marked(world), 0, 'Services never lost an endpoint');
  assert.deepEqual([world.notReady(), new Set(all(sizes).flatMap((name) => world.taints(name)))], [[], new Set()]);
  const [resumed] = world.decided('acts-resumed');
  assert.ok(resumed?.evidence);
  assert.match(
    describeDecision(resumed),
    /^ControlPlanePathFailure hold ended after .*: the silence is no ControlPlanePathFailure any more: 0 of \d nodes silent together/,
  );
  assert.equal(world.meter.series.get('node_lifecycle_outage_hold{outage="ControlPlanePathFailure"}'), 0);
});

test('the hold is bounded: at its end nodes that are still silent are handled like any other, and that is recorded', async () => {
  const sizes = { a: 4, b: 4, c: 1 };
  await using world = aWorld(sizes, { controlPlanePathFailureHoldMs: 60_000 });
  await world.start().silentFor(109, ...names(4, 'a-'), ...names(4, 'b-'));
  assert.equal(marked(world), 0);
  assert.equal(world.tainted(all(sizes)).length, 0);
  await world.advance(3);
  assert.equal(marked(world), 8);
  assert.equal(world.tainted(all(sizes)).length, 2, 'one per zone, at the rate of a fully disrupted zone');
  await world.advance(120);
  assert.equal(world.decided('acts-held').length, 1, 'the same outage is not held again');
  assert.ok(world.nodeEvents.drafts.some(({ reason }) => reason === 'ControlPlanePathFailureHoldExpired'));
});

test('when enough nodes renew again the hold continues for a window, and the rest is then handled like any other', async () => {
  const sizes = { a: 5, b: 5 };
  await using world = aWorld(sizes);
  await world.start().silentFor(70, ...all(sizes));
  const back = names(5, 'a-');
  world.recover(...back);
  await world.advance(10);
  assert.equal(marked(world), 0);
  await world.advance(12);
  assert.equal(marked(world), 5, 'the pods of zone b, which failed');
});

test('a hold that ends because its silent nodes were deleted does not say that nodes renew their leases', async () => {
  const sizes = { a: 4, b: 4, c: 1 };
  await using world = aWorld(sizes);
  await world.start().silentFor(70, ...names(4, 'a-'), ...names(4, 'b-'));
  for (const name of names(4, 'a-')) world.removeNode(name);
  await world.advance(60);
  const [message = ''] = world.nodeEvents.drafts
    .filter(({ reason }) => reason === 'ControlPlanePathFailureOver')
    .map((event) => event.message);
  assert.match(
    message,
    /^Hold ended after \d+s: the silence is no ControlPlanePathFailure any more: \d of \d nodes silent/,
  );
  assert.doesNotMatch(message, /renew/);
});

test('a restart during the hold neither ends it nor starts it again', async () => {
  const sizes = { a: 4, b: 4, c: 1 };
  await using world = aWorld(sizes, { controlPlanePathFailureHoldMs: 90_000 });
  await world.start().silentFor(80, ...names(4, 'a-'), ...names(4, 'b-'));
  await world.restart();
  await world.advance(55);
  assert.equal(marked(world), 0);
  assert.equal(world.tainted(all(sizes)).length, 0);
  await world.advance(10);
  assert.equal(marked(world), 8);
  assert.ok(world.tainted(all(sizes)).length > 0);
});

test('a zone that fails alone is a ZoneFailure: no hold, and Services lose its endpoints at once', async () => {
  const sizes = { a: 4, b: 4, c: 4 };
  await using world = aWorld(sizes);
  await world.start().silentFor(52, ...names(4, 'a-'));
  assert.equal(marked(world), 4);
  const outages = new Set(world.decided('node-silent').map(({ outage }) => outage));
  assert.deepEqual([...outages], ['ZoneFailure']);
  assert.deepEqual(world.nodeEventsOf('ZoneFailure'), [
    'ZoneFailure: 4 of 4 nodes of zone r/a sent their last heartbeat within 12s',
  ]);
  assert.equal(world.meter.series.get('node_lifecycle_silent_nodes_total{outage="ZoneFailure"}'), 4);
});

test('pods are marked node by node, at the rate of the zone, and each zone has its own', async () => {
  const sizes = { a: 10, b: 4, c: 40 };
  await using world = aWorld(sizes, { podMarkingRate: 1 }, 3);
  await world.start().silentFor(50.2, ...names(10, 'a-'));
  assert.equal(marked(world), 3, 'one node at once');
  assert.equal(world.meter.series.get('node_lifecycle_marking_queue_depth{zone="r/a"}'), 9);
  await world.advance(4);
  assert.equal(marked(world), 15);
  await world.silentFor(51, 'b-0');
  assert.equal(marked(world), 33, 'the other zone did not wait for this one');
});

test('a node that recovers before its slot keeps its pods ready, and its next silence needs a slot of its own', async () => {
  const sizes = { a: 3, b: 10 };
  await using world = aWorld(sizes, { podMarkingRate: 0.1 });
  await world.start().silentFor(51, ...names(3, 'a-'));
  assert.equal(marked(world), 1);
  world.recover('a-1');
  await world.advance(30);
  const nodes = world.decided('pod-marked-not-ready').map(({ node }) => node);
  assert.deepEqual(nodes, ['a-0', 'a-2']);
});

test('nodes without pods to mark spend no token', async () => {
  const sizes = { a: 4, b: 10 };
  await using world = aZonedWorld(sizes, { podMarkingRate: 0.01 });
  withPods(world, ['a-3']);
  await world.start().silentFor(52, ...names(4, 'a-'));
  assert.equal(marked(world), 1);
});

test('with a short grace period too, nodes that stop at the same time but renew at different times are one outage', async () => {
  await using world = aWorld({ a: 6, b: 6 }, { nodeMonitorGracePeriodMs: 26_000 });
  world.start();
  world.goSilent(...names(6, 'a-'), ...names(6, 'b-'));
  for (const [place, name] of [...names(6, 'a-'), ...names(6, 'b-')].entries()) {
    if (place % 3 === 0) await world.advance(3);
    world.post(name, 'True');
  }
  await world.advance(60);
  const taken = world.decided('node-silent').map(({ outage }) => outage);
  assert.deepEqual(taken, Array(12).fill('ControlPlanePathFailure'));
  assert.equal(marked(world), 0);
});

/** The last heartbeats of these nodes, so many seconds apart. */
async function stopOneByOne(world: ControllerWorld, nodes: readonly string[], everyS: number): Promise<void> {
  world.goSilent(...nodes);
  for (const node of nodes) {
    world.renewOnce(node);
    await world.advance(everyS);
  }
}

test('with a grace period of 24 s too, last heartbeats that are a renew interval apart are one outage', async () => {
  const nodes = ['a-0', 'b-0', 'c-0', 'a-1', 'b-1', 'c-1'];
  await using world = aWorld({ a: 2, b: 2, c: 2 }, { nodeMonitorGracePeriodMs: 24_000 });
  await world.running(20);
  world.goSilent(...nodes);
  await stopOneByOne(world, ['a-0', 'b-0'], 5);
  world.renewOnce('c-0', 'a-1', 'b-1', 'c-1');
  await world.advance(60);
  const outages = world.decided('node-silent').map(({ outage }) => outage);
  assert.deepEqual(outages, Array(6).fill('ControlPlanePathFailure'));
  assert.deepEqual([marked(world), world.tainted(nodes)], [0, []]);
});

test('a hold applies to each node that it counts: earlier ones without a NoExecute taint yet, and later ones', async () => {
  const before = ['a-0', 'a-1', 'b-0'];
  const after = ['a-2', 'b-1', 'b-2'];
  await using world = aWorld({ a: 3, b: 3, c: 3 });
  await world.running(20);
  world.goSilent(...before, ...after);
  await stopOneByOne(world, before, 0.5);
  await world.advance(7);
  await stopOneByOne(world, after, 3);
  await world.advance(120);
  const [held, ...others] = world.decided('acts-held');
  assert.deepEqual([held?.why.together, held?.why.of, others.length], [6, 9, 0]);
  assert.deepEqual(world.tainted([...before, ...after]), ['a-0', 'b-0'], 'before the hold, at the rate of each zone');
  assert.equal(marked(world), 3);
  assert.equal(world.meter.series.get('node_lifecycle_silent_nodes_total{outage="ControlPlanePathFailure"}'), 3);
  await world.advance(300);
  assert.deepEqual([world.tainted([...before, ...after]).length, marked(world)], [6, 6], 'when the hold has expired');
});
