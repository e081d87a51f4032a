// Conditions become Unknown as fast as the API server accepts the writes, here over a minute. The times of the last
// renewals are in the leases, and a controller that starts in between must reach the same result from them as its
// predecessor.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ApiError } from '../../../src/machinery/api/api-error.ts';
import { formatTime } from '../../../src/machinery/api/timestamps.ts';
import type { OutageHold } from '../../../src/controller/outage/path-failure-hold.ts';
import type { ControllerWorld, Write } from '../../support/controller-world.ts';
import { aZonedWorld, names } from '../../support/zoned-world.ts';

const sizes = { a: 6, b: 6, c: 1 };
const silent = [...names(6, 'a-'), ...names(6, 'b-')];

/** Lets the writes of conditions pass one by one; all others at once. */
class SlowStatusWrites {
  readonly #waiting: { readonly pass: () => void; readonly fail: (error: Error) => void }[] = [];

  readonly beforeWrite = ({ resource, subresource }: Omit<Write, 'atSeconds'>): Promise<void> => {
    if (resource !== 'nodes' || subresource !== 'status') return Promise.resolve();
    return new Promise((pass, fail) => this.#waiting.push({ pass, fail }));
  };

  passOne(): void {
    this.#waiting.shift()?.pass();
  }

  /** The connections end with the process. */
  abortAll(): void {
    for (const { fail } of this.#waiting.splice(0)) fail(new ApiError({ reason: 'aborted', message: 'aborted' }));
  }
}

/** The nodes stop renewing within 8 s of each other. */
async function aPathFailure(holdMs: number): Promise<ControllerWorld> {
  const world = aZonedWorld(sizes, { controlPlanePathFailureHoldMs: holdMs });
  for (const node of silent) world.addPod(`pod-of-${node}`, node, []);
  await world.running(20);
  await world.silentFor(4, 'a-0', 'a-1', 'b-0', 'b-1');
  await world.silentFor(4, 'a-2', 'a-3', 'b-2', 'b-3');
  world.goSilent(...silent);
  return world;
}

/** Until `seconds` of world time; one write of conditions every 5 s. */
async function advanceTo(world: ControllerWorld, seconds: number, writes: SlowStatusWrites): Promise<void> {
  while (world.seconds() < seconds) {
    await world.advance(1);
    if (Math.round(world.seconds()) % 5 === 0) writes.passOne();
    await world.advance(0.01);
  }
}

const holdOf = (world: ControllerWorld): OutageHold | undefined => world.lifecycle.stages.outage.hold();

/** In seconds of world time. */
function endOf(world: ControllerWorld): number {
  const hold = holdOf(world);
  assert.ok(hold !== undefined, `a hold at ${world.seconds()} s`);
  const leftMs = hold.untilMs - world.lifecycle.stages.freshness.nowMs();
  return world.seconds() + leftMs / 1_000;
}

async function restart(world: ControllerWorld, writes: SlowStatusWrites): Promise<void> {
  const restarted = world.restart();
  writes.abortAll();
  await restarted;
  await world.advance(1);
}

const countHeld = (world: ControllerWorld): number => world.decided('acts-held').length;
const unknownOnes = (world: ControllerWorld): number => silent.filter((name) => world.ready(name) === 'Unknown').length;

test('a restart while Unknown is being written neither ends the hold nor moves its end', async () => {
  await using world = await aPathFailure(120_000);
  const writes = new SlowStatusWrites();
  world.beforeWrite = writes.beforeWrite;
  await advanceTo(world, 100, writes);
  const end = endOf(world);
  assert.ok(unknownOnes(world) >= 4 && unknownOnes(world) <= 8, `${unknownOnes(world)} of 12 are Unknown`);
  await restart(world, writes);
  assert.ok(Math.abs(endOf(world) - end) <= 3, `ends at ${endOf(world)} s, not ${end} s`);
  await advanceTo(world, 175, writes);
  assert.equal(unknownOnes(world), 12);
  assert.ok(Math.abs(endOf(world) - end) <= 3, 'also when all are Unknown');
  await restart(world, writes);
  assert.ok(Math.abs(endOf(world) - end) <= 3, 'also for a third process');
  await advanceTo(world, end - 5, writes);
  assert.ok(!world.kinds().includes('pod-marked-not-ready'));
  await advanceTo(world, end + 60, writes);
  assert.equal(holdOf(world), undefined);
  assert.equal(world.decided('pod-marked-not-ready').length, 12);
  assert.equal(countHeld(world), 3, 'once by each process');
});

test('a restart after the end of the hold does not start another, whenever Unknown was written', async () => {
  await using world = await aPathFailure(40_000);
  const writes = new SlowStatusWrites();
  world.beforeWrite = writes.beforeWrite;
  await advanceTo(world, 80, writes);
  const end = endOf(world);
  await advanceTo(world, end + 1, writes);
  assert.equal(holdOf(world), undefined);
  assert.ok(unknownOnes(world) < 12, 'some are still to be written');
  await restart(world, writes);
  assert.equal(holdOf(world), undefined);
  await advanceTo(world, end + 120, writes);
  assert.equal(unknownOnes(world), 12);
  assert.equal(countHeld(world), 1, 'nodes that the second process found silent belong to the same outage');
  await restart(world, writes);
  await advanceTo(world, end + 200, writes);
  assert.equal(countHeld(world), 1);
});

const restartTimes: readonly (readonly number[])[] = [
  [75],
  [90],
  [113],
  [140],
  [165],
  [190],
  [75, 85, 95, 110, 150, 168],
];

for (const restarts of restartTimes) {
  test(`restarted at ${restarts.join(', ')} s, the pods are marked when the first hold would have ended`, async () => {
    await using world = await aPathFailure(100_000);
    const writes = new SlowStatusWrites();
    world.beforeWrite = writes.beforeWrite;
    for (const seconds of restarts) {
      await advanceTo(world, seconds, writes);
      await restart(world, writes);
    }
    await advanceTo(world, 360, writes);
    const marks = world.decisions.filter(({ decision }) => decision.kind === 'pod-marked-not-ready');
    const firstAt = ((marks[0]?.atMs ?? 0) - (world.clock.nowMs() - world.seconds() * 1_000)) / 1_000;
    assert.ok(Math.abs(firstAt - 170) <= 3, `at ${firstAt} s`);
    assert.equal(marks.length, 12);
  });
}

/** As another controller does it. */
function markUnknown(world: ControllerWorld, name: string): void {
  const node = world.node(name);
  const lastTransitionTime = formatTime(world.clock.nowMs());
  const conditions = (node.status?.conditions ?? []).map((condition) =>
    condition.type === 'Ready' ? { ...condition, status: 'Unknown', lastTransitionTime } : condition,
  );
  world.putNode({ ...node, status: { ...node.status, conditions } });
}

/** All nodes of two zones fall silent at 60 s; from then on another controller writes one Unknown every 5 s. */
async function aStandbyUntil(seconds: number, holdMs: number): Promise<ControllerWorld> {
  const world = aZonedWorld(sizes, { controlPlanePathFailureHoldMs: holdMs });
  await world.advance(10);
  world.goSilent(...silent);
  while (world.seconds() < seconds) {
    const name = silent[Math.floor((world.seconds() - 60) / 5)];
    if (name !== undefined && world.ready(name) === 'True') markUnknown(world, name);
    await world.advance(1);
  }
  return world;
}

test('a standby that observed heartbeats reaches the same result from the Unknown that another controller wrote', async () => {
  await using world = await aStandbyUntil(100, 120_000);
  assert.equal(unknownOnes(world), 8);
  await world.running(1);
  assert.ok(Math.abs(endOf(world) - (60 + 120)) <= 3, `ends at ${endOf(world)} s`);
  await world.advance(30);
  assert.equal(unknownOnes(world), 12);
  assert.equal(countHeld(world), 1);
});

test('a standby that takes over after the end of the hold does not start another', async () => {
  await using world = await aStandbyUntil(122, 60_000);
  assert.equal(unknownOnes(world), 12);
  await world.running(60);
  assert.equal(countHeld(world), 0);
});

test('without a lease the time at which Unknown was written is used', async () => {
  await using world = await aPathFailure(120_000);
  await world.advance(80);
  const end = endOf(world);
  for (const name of silent) world.leases.delete(`kube-node-lease/${name}`);
  await world.restart();
  await world.advance(1);
  assert.ok(Math.abs(endOf(world) - end) <= 3);
});
