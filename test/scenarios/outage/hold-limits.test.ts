// Default length of a hold, and what it depends on.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ControllerOptions } from '../../../src/controller/model/options.ts';
import type { ControllerWorld } from '../../support/controller-world.ts';
import { aZonedWorld, names } from '../../support/zoned-world.ts';

interface OneZone {
  readonly workers: number;
  readonly controlPlane: number;
  readonly options?: Partial<ControllerOptions>;
}

const label = { 'node-role.kubernetes.io/control-plane': '' };

function aWorldOfOneZone({ workers, controlPlane, options }: OneZone): ControllerWorld {
  const world = aZonedWorld({ w: workers, cp: controlPlane }, options);
  for (const name of [...names(workers, 'w-'), ...names(controlPlane, 'cp-')])
    world.setLabels(name, name.startsWith('cp-') ? label : {});
  for (const name of names(workers, 'w-')) world.addPod(`pod-of-${name}`, name);
  world.start();
  return world;
}

const marked = (world: ControllerWorld): number => world.decided('pod-marked-not-ready').length;

/** Nodes of one zone that are silent from 20 s on. */
async function aSilentZone(zone: OneZone, silent: readonly string[]): Promise<ControllerWorld> {
  const world = aWorldOfOneZone(zone);
  await goSilentAt20(world, ...silent);
  return world;
}

/** No pod is marked before, and so many are from then on. */
async function areMarkedAfter(world: ControllerWorld, seconds: number, count: number): Promise<void> {
  await world.advance(seconds - 4);
  assert.equal(marked(world), 0);
  await world.advance(4);
  assert.equal(marked(world), count);
}

/** Silence from 20 s, so the nodes are silent at 70 s. */
async function goSilentAt20(world: ControllerWorld, ...silent: readonly string[]): Promise<void> {
  await world.advance(20);
  await world.silentFor(52, ...silent);
}

test('in a cluster of one zone without control-plane nodes the pods of most nodes are marked after 60 s', async () => {
  await using world = await aSilentZone({ workers: 5, controlPlane: 0 }, names(3, 'w-'));
  assert.ok(world.lifecycle.stages.outage.hold() !== undefined);
  await areMarkedAfter(world, 60, 3);
});

test('control-plane nodes that keep renewing are no evidence: 60 s', async () => {
  await using world = await aSilentZone({ workers: 6, controlPlane: 3 }, names(6, 'w-'));
  const hold = world.lifecycle.stages.outage.hold();
  assert.equal(hold?.why.controlPlane.evidence, 'renewing');
  await world.advance(60);
  assert.equal(marked(world), 6);
});

test('when all control-plane nodes are silent too the hold of one zone is 300 s, and the Event has the reason', async () => {
  await using world = await aSilentZone({ workers: 5, controlPlane: 3 }, [...names(4, 'w-'), ...names(3, 'cp-')]);
  await areMarkedAfter(world, 300, 4);
  assert.deepEqual(world.nodeEventsOf('ControlPlanePathFailure'), [
    'ControlPlanePathFailure: 7 of 8 nodes in 1 of 1 zones sent their last heartbeat within 12s, 3 of 3 control-plane nodes silent although the API server answers; their pods stay ready and the nodes get no NoExecute taint for at most 300s',
  ]);
});

test('a restart finds the same evidence, so the hold of one zone ends when it would have', async () => {
  await using world = await aSilentZone({ workers: 5, controlPlane: 3 }, [...names(4, 'w-'), ...names(3, 'cp-')]);
  await world.advance(100);
  await world.restart();
  await areMarkedAfter(world, 200, 4);
});

test('when the control-plane nodes renew again the hold of one zone ends, after one more window', async () => {
  await using world = await aSilentZone({ workers: 17, controlPlane: 3 }, [...names(16, 'w-'), ...names(3, 'cp-')]);
  await world.advance(78);
  assert.equal(marked(world), 0);
  world.recover(...names(3, 'cp-'));
  await world.advance(11);
  assert.equal(marked(world), 0);
  await world.advance(8);
  assert.equal(marked(world), 16);
});

test('a configured value applies to one zone as well', async () => {
  await using world = await aSilentZone(
    {
      workers: 5,
      controlPlane: 0,
      options: { controlPlanePathFailureHoldMs: 150_000 },
    },
    names(3, 'w-'),
  );
  await areMarkedAfter(world, 150, 3);
});

test('a hold without a limit lasts until the nodes renew, and its age is visible', async () => {
  await using world = aZonedWorld({ a: 4, b: 4, c: 1 }, { controlPlanePathFailureHoldMs: -1_000 }).start();
  await goSilentAt20(world, ...names(4, 'a-'), ...names(4, 'b-'));
  await world.advance(3_598);
  assert.ok(world.lifecycle.stages.outage.isHeld('a-0'));
  const series = world.meter.read();
  assert.equal(Math.round(series.get('node_lifecycle_outage_hold_age_seconds') ?? 0), 3_600);
  assert.equal(series.get('node_lifecycle_outage_hold_limit_seconds'), Infinity);
  world.recover(...names(4, 'a-'), ...names(4, 'b-'));
  await world.advance(30);
  assert.equal(world.meter.read().get('node_lifecycle_outage_hold_age_seconds'), 0);
  assert.equal(world.meter.read().get('node_lifecycle_outage_hold_limit_seconds'), 0);
});

test('the limit of a hold in force is in the metrics', async () => {
  await using world = await aSilentZone({ workers: 5, controlPlane: 0 }, names(3, 'w-'));
  assert.equal(world.meter.read().get('node_lifecycle_outage_hold_limit_seconds'), 60);
});

test('nodes of an earlier path failure are not held by a later one', async () => {
  const first = ['a', 'b', 'c'].flatMap((zone) => names(7, `${zone}-`));
  const later = ['a-7', 'b-7', 'c-7', 'a-8', 'b-8', 'c-8', 'a-9', 'b-9'];
  await using world = aZonedWorld({ a: 10, b: 10, c: 10 });
  for (const node of [...first, ...later]) world.addPod(`pod-of-${node}`, node);
  await world.start().silentFor(60, ...first);
  assert.deepEqual(world.nodeEventsOf('ControlPlanePathFailure').length, 1);
  await world.advance(300);
  assert.equal(marked(world), first.length, 'the first hold is over');
  await world.silentFor(60, ...later);
  assert.deepEqual(world.nodeEventsOf('ControlPlanePathFailure').length, 2);
  const { outage } = world.lifecycle.stages;
  const held = [...first, ...later].filter((node) => outage.isHeld(node));
  assert.deepEqual(held.sort(), [...later].sort());
  world.addPod('bound-later', 'a-0', [{ operator: 'Exists' }]);
  await world.advance(5);
  assert.equal(world.podReady('bound-later'), 'False', 'pods of the first nodes are marked meanwhile');
  assert.equal(marked(world), first.length + 1);
});
