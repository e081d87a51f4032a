// A decided NoExecute taint that waits to be sent: changes of the node, the zone and the watches meanwhile count.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ControllerOptions } from '../../../src/controller/model/options.ts';
import { taintKeys } from '../../../src/machinery/api/taints.ts';
import { type ControllerWorld } from '../../support/controller-world.ts';
import { aZonedWorld, names } from '../../support/zoned-world.ts';

/** The NoExecute taint of a-0, whose token came later than its NoSchedule taint, waits for a slot of its lane; `free` ends that. */
async function aWaitingTaint(
  options: Partial<ControllerOptions> = {},
): Promise<{ readonly world: ControllerWorld; readonly free: () => void }> {
  const world = aZonedWorld({ a: 20, b: 3 }, options);
  await world.start().silentFor(4, 'a-1');
  await world.silentFor(54, 'a-0', 'a-1');
  const free = world.holdLane('tainting');
  await world.advance(6);
  assert.deepEqual(world.taints('a-0'), ['unreachable:NoSchedule']);
  return { world, free };
}

function everTainted(world: ControllerWorld, node: string): boolean {
  return world.writes.some(({ name, body }) => name === node && JSON.stringify(body).includes('"NoExecute"'));
}

function tokens(world: ControllerWorld, zone: string): number {
  return world.lifecycle.stages.queues.get(zone)?.tokens(world.clock.monotonicMs()) ?? -1;
}

test('a taint that waits to be sent is not sent while the watches are stale; its node keeps its place and gets it afterwards', async () => {
  const { world, free } = await aWaitingTaint();
  world.loseContact();
  await world.advance(20);
  free();
  await world.advance(20);
  assert.equal(everTainted(world, 'a-0'), false);
  assert.equal(world.lifecycle.stages.queues.zoneOf('a-0'), 'r/a');
  assert.equal(tokens(world, 'r/a'), 1, 'nothing was sent, so the token is returned');
  world.restoreContact();
  await world.advance(30);
  assert.deepEqual(world.taints('a-0'), ['unreachable:NoExecute', 'unreachable:NoSchedule']);
  await world.stop();
});

test('a taint that waits to be sent is not sent once its node is Ready, and its token is returned', async () => {
  const { world, free } = await aWaitingTaint();
  world.recover('a-0');
  await world.advance(1);
  free();
  await world.advance(20);
  assert.equal(everTainted(world, 'a-0'), false);
  assert.deepEqual([world.taints('a-0'), tokens(world, 'r/a')], [[], 1]);
  assert.equal(world.lifecycle.stages.queues.get('r/a')?.size, 0);
  await world.stop();
});

test('a taint that waits to be sent is not sent once its zone is stopped', async () => {
  const { world, free } = await aWaitingTaint();
  for (const name of names(15, 'a-').slice(1)) world.post(name, 'False');
  await world.advance(6);
  assert.equal(world.lifecycle.stages.queues.get('r/a')?.ratePerSecond, 0);
  free();
  await world.advance(30);
  assert.equal(everTainted(world, 'a-0'), false);
  assert.equal(world.lifecycle.stages.queues.zoneOf('a-0'), 'r/a');
  await world.stop();
});

test('a taint that waits to be sent is not sent in a full disruption', async () => {
  const { world, free } = await aWaitingTaint();
  for (const name of [...names(20, 'a-').slice(1), ...names(3, 'b-')]) world.post(name, 'False');
  await world.advance(6);
  assert.equal(world.lifecycle.stages.zones.fullDisruption, true);
  free();
  await world.advance(30);
  assert.equal(everTainted(world, 'a-0'), false);
  await world.stop();
});

test('one health taint does not replace the other while the watches are stale, and does afterwards', async () => {
  await using world = await aZonedWorld({ a: 20, b: 3 }).running(1);
  world.post('a-0', 'False');
  await world.advance(6);
  assert.deepEqual(world.taints('a-0'), ['not-ready:NoExecute', 'not-ready:NoSchedule']);
  await world.silentFor(60, 'a-0');
  assert.equal(world.ready('a-0'), 'Unknown');
  const free = world.holdLane('tainting');
  const swapped = world.node('a-0').spec?.taints ?? [];
  world.setTaints(
    'a-0',
    swapped.map((taint) => (taint.effect === 'NoExecute' ? { ...taint, key: taintKeys.notReady } : taint)),
  );
  await world.advance(1);
  world.loseContact();
  await world.advance(20);
  free();
  await world.advance(20);
  assert.ok(world.taints('a-0').includes('not-ready:NoExecute'));
  world.restoreContact();
  await world.advance(35);
  assert.deepEqual(world.taints('a-0'), ['unreachable:NoExecute', 'unreachable:NoSchedule']);
});

test('a check dequeues a node that no longer exists or no longer needs the taint', async () => {
  await using world = await aZonedWorld({ a: 20 }).running(1);
  const { queues, noExecute } = world.lifecycle.stages;
  // As after a missed event.
  queues.add('never-existed', 'r/a', world.clock.monotonicMs());
  queues.add('a-1', 'r/a', world.clock.monotonicMs());
  for (const name of noExecute.queuedNodes()) noExecute.check(name);
  assert.deepEqual([...noExecute.queuedNodes()], []);
});

test('both taints of a silent node are one request; where that is denied each is written alone', async () => {
  await using world = await aZonedWorld({ a: 20, b: 3 }).running(1);
  const taintsIn = ({ body }: (typeof world.writes)[number]): readonly string[] =>
    ['NoExecute', 'NoSchedule'].filter((effect) => JSON.stringify(body).includes(`"${effect}"`));
  await world.silentFor(52, 'a-1');
  assert.deepEqual(world.writes.filter(({ name }) => name === 'a-1').map(taintsIn), [[], ['NoExecute', 'NoSchedule']]);
  await world.advance(20);
  const denied = world.writes.length;
  await world.silentFor(49, 'a-0', 'a-1');
  world.failNext('patch', 'nodes', 'forbidden', 1);
  await world.silentFor(15, 'a-0', 'a-1');
  const written = world.writes.slice(denied).filter(({ name, resource }) => name === 'a-0' && resource === 'nodes');
  assert.deepEqual(world.taints('a-0'), ['unreachable:NoExecute', 'unreachable:NoSchedule'], JSON.stringify(written));
});
