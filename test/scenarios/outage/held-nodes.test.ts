// Which nodes a hold applies to: those that became silent as part of the outage, and no others.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ControllerWorld } from '../../support/controller-world.ts';
import { aZonedWorld, names } from '../../support/zoned-world.ts';

const together = [...names(4, 'a-'), ...names(4, 'b-')];

function heldOf(world: ControllerWorld, candidates: readonly string[]): readonly string[] {
  return candidates.filter((name) => world.lifecycle.stages.outage.isHeld(name));
}

/** Zones a and b lose their path at 100 s; what else falls silent does so for its own reasons. */
async function aWorld(): Promise<ControllerWorld> {
  const world = aZonedWorld({ a: 5, b: 5, c: 1 }, { controlPlanePathFailureHoldMs: 200_000 });
  await world.running(20);
  await world.silentFor(80, 'a-4');
  await world.silentFor(60, ...together);
  return world;
}

test('a hold applies to the nodes that became silent together', async () => {
  await using world = await aWorld();
  assert.deepEqual(heldOf(world, together), together);
  const hold = world.lifecycle.stages.outage.hold();
  assert.ok(hold !== undefined);
  assert.equal(world.lifecycle.stages.outage.heldUntilMs('a-0'), hold.untilMs);
});

test('a node that was silent before is not held, and neither is one that is not silent', async () => {
  await using world = await aWorld();
  assert.ok(world.lifecycle.stages.outage.isSilent('a-4'));
  assert.deepEqual(heldOf(world, ['a-4', 'c-0', 'unknown-name']), []);
});

test('a node that becomes silent alone during the hold is not held', async () => {
  await using world = await aWorld();
  await world.silentFor(60, 'b-4');
  assert.equal(world.ready('b-4'), 'Unknown');
  assert.ok(world.lifecycle.stages.outage.hold() !== undefined);
  assert.deepEqual(heldOf(world, ['b-4']), []);
});

test('a node that recovers is not held, nor is its next silence', async () => {
  await using world = await aWorld();
  world.recover('a-0');
  await world.advance(10);
  assert.deepEqual(heldOf(world, ['a-0', 'a-1']), ['a-1']);
  await world.silentFor(55, 'a-0');
  assert.equal(world.ready('a-0'), 'Unknown');
  assert.deepEqual(heldOf(world, ['a-0', 'a-1']), ['a-1']);
});

test('no node is held after the end of the hold', async () => {
  await using world = await aWorld();
  await world.advance(200);
  assert.deepEqual(heldOf(world, together), []);
});

test('after a restart the same nodes are held', async () => {
  await using world = await aWorld();
  await world.silentFor(60, 'b-4');
  await world.restart();
  await world.advance(1);
  assert.deepEqual(heldOf(world, [...together, 'a-4', 'b-4', 'c-0']), together);
});
