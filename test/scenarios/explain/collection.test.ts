// Predictions about the pod garbage collector come true at the predicted round; pods that it keeps have the reason.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { PodGcOptions } from '../../../src/controller/model/options.ts';
import { describePodOutlook } from '../../../src/controller/report/text/describe-outlooks.ts';
import { describeStatus } from '../../../src/controller/report/text/describe-status.ts';
import { ControllerWorld } from '../../support/controller-world.ts';
import { comesTrue, secondsOf } from '../../support/coming-true.ts';
import { explainPod, statusOf } from '../../support/explained.ts';

/** Two healthy nodes and a collector; it is five seconds after its first round. */
async function aWorld(podGc?: PodGcOptions): Promise<ControllerWorld> {
  const world = new ControllerWorld({}, { podGc: true }, podGc);
  for (const name of ['a-0', 'a-1']) {
    world.addNode(name, { zone: 'a' });
    world.renewing(name);
  }
  await world.running(5);
  return world;
}

function finish(world: ControllerWorld, pod: string, phase: string): void {
  world.changePod(pod, (stored) => ({ ...stored, status: { ...stored.status, phase } }));
}

const isGone = (world: ControllerWorld, pod: string) => (): boolean => world.evicted().includes(pod);

function terminatedAt(world: ControllerWorld): { readonly deletionTimestamp: string } {
  return { deletionTimestamp: new Date(world.clock.nowMs()).toISOString() };
}

test('an orphan has its quarantine and deletion time: before the round that finds it and during the quarantine', async () => {
  await using world = await aWorld();
  world.addPod('web', 'nowhere');
  const unnoticed = explainPod(world, 'web');
  assert.ok(unnoticed.collection?.kind === 'expected');
  const seen = [unnoticed.collection.why, unnoticed.collection.unless, unnoticed.collection.when.inSeconds];
  assert.deepEqual(seen, ['orphaned', 'node-known-again', 55]);
  assert.deepEqual(unnoticed.stays, { why: 'node-unknown' });
  await world.advance(25);
  const quarantined = explainPod(world, 'web');
  assert.ok(quarantined.collection?.kind === 'expected');
  assert.equal(quarantined.collection.quarantineEnds?.inSeconds, 30);
  assert.deepEqual([quarantined.next.act, quarantined.next.subject], ['collect-pod', 'default/web']);
  assert.ok(quarantined.history.some(({ decision }) => decision.kind === 'node-missing'));
  await comesTrue(world, secondsOf(quarantined.next.when), 0, isGone(world, 'web'));
});

test('a time between two rounds is predicted for the later round', async () => {
  await using world = await aWorld();
  world.addPod('web', 'nowhere');
  await world.advance(16);
  const { podGc } = world.lifecycle.stages;
  const nowMs = world.clock.monotonicMs();
  const inSeconds = (atMs: number): number => (atMs - nowMs) / 1_000;
  assert.equal(inSeconds(podGc.quarantineEndsAtMs('nowhere')), 39);
  const seen = [18, 19, 19.5, 39, 39.5].map((seconds) => inSeconds(podGc.roundFromMs(nowMs + seconds * 1_000)));
  assert.deepEqual(seen, [19, 19, 39, 39, 59]);
});

test('a node that appears cancels the prediction, and the pod stays', async () => {
  await using world = await aWorld();
  world.addPod('web', 'a-9');
  await world.advance(30);
  assert.equal(explainPod(world, 'web').collection?.kind, 'expected');
  world.addNode('a-9', { zone: 'a' });
  world.renewing('a-9');
  const { collection, stays, next } = explainPod(world, 'web');
  assert.deepEqual([collection, stays, next.act], [null, null, 'evict-pod']);
  await world.advance(60);
  assert.deepEqual(world.evicted(), []);
});

test('a node that cannot be read is a hold, and the next round is predicted', async () => {
  await using world = await aWorld();
  world.addPod('web', 'nowhere');
  world.failNext('get', 'nodes', 'timeout');
  await world.advance(57);
  const { holds, next } = explainPod(world, 'web');
  assert.deepEqual(holds, [{ kind: 'node-unanswered', node: 'nowhere', unblockedBy: [{ kind: 'api-answers' }] }]);
  await comesTrue(world, secondsOf(next.when), 0, isGone(world, 'web'));
});

test('a missing permission to read the node is a hold that names it', async () => {
  await using world = await aWorld();
  world.addPod('web', 'nowhere');
  world.failNext('get', 'nodes', 'forbidden');
  await world.advance(57);
  assert.deepEqual(explainPod(world, 'web').holds, [
    { kind: 'node-unanswered', node: 'nowhere', unblockedBy: [{ kind: 'permission', needed: 'get of nodes' }] },
  ]);
});

test('a terminating pod of an out-of-service node is deleted in the next round, one that is not terminating is not', async () => {
  await using world = await aWorld();
  world.addNode('broken', {
    zone: 'a',
    ready: 'False',
    taints: [{ key: 'node.kubernetes.io/out-of-service', effect: 'NoSchedule' }],
  });
  world.addPod('stuck', 'broken', [{ operator: 'Exists' }], terminatedAt(world));
  world.addPod('alive', 'broken', [{ operator: 'Exists' }]);
  const { collection, next } = explainPod(world, 'stuck');
  assert.ok(collection?.kind === 'expected');
  assert.deepEqual([collection.why, collection.quarantineEnds], ['out-of-service', null]);
  assert.equal(explainPod(world, 'alive').collection, null);
  await comesTrue(world, secondsOf(next.when), 0, isGone(world, 'stuck'));
  assert.deepEqual(new Set(world.evicted()), new Set(['stuck']));
});

test('a completed pod is predicted to be deleted when it completed too long ago, and is', async () => {
  await using world = await aWorld({ terminatedPodGcThreshold: 0, terminatedPodGcAgeMs: 120_000 });
  for (const name of ['done', 'running']) world.addPod(name, 'a-0');
  finish(world, 'done', 'Succeeded');
  const { collection } = explainPod(world, 'done');
  assert.ok(collection?.kind === 'expected');
  assert.match(describeStatus(statusOf(world)), /1 terminated pods, all are kept, for 120s$/m);
  await comesTrue(world, secondsOf(collection.when), 0, isGone(world, 'done'));
  assert.ok(secondsOf(collection.when) >= 119);
  assert.deepEqual(world.evicted(), ['done']);
});

test('of the completed pods of a node the oldest beyond the number are deleted', async () => {
  await using world = await aWorld({ terminatedPodGcThreshold: 0, terminatedPodGcPerNode: 1 });
  for (const [name, node] of [
    ['oldest', 'a-0'],
    ['young', 'a-0'],
    ['other', 'a-1'],
  ] as const) {
    world.addPod(name, node);
    finish(world, name, 'Failed');
    await world.advance(2);
  }
  assert.equal(explainPod(world, 'oldest').collection?.kind, 'expected');
  assert.deepEqual(explainPod(world, 'young').collection, { kind: 'kept', finished: 3, threshold: null, perNode: 1 });
  await world.advance(25);
  assert.deepEqual(world.evicted(), ['oldest']);
});

test('terminated pods beyond the threshold are predicted to be deleted, orphans or not, the others to be kept', async () => {
  await using world = await aWorld({ terminatedPodGcThreshold: 2 });
  for (const name of ['oldest', 'older', 'young', 'youngest']) {
    world.addPod(name, name === 'oldest' ? 'nowhere' : 'a-0');
    finish(world, name, name === 'older' ? 'Failed' : 'Succeeded');
    await world.advance(2);
  }
  world.addPod('running', 'a-0');
  assert.deepEqual(explainPod(world, 'oldest').collection, {
    ...explainPod(world, 'older').collection,
    unless: 'fewer-finished-pods',
  });
  const predicted = Object.fromEntries(
    ['oldest', 'older', 'young', 'youngest', 'running'].map((name) => [name, explainPod(world, name).collection]),
  );
  const seen = Object.values(predicted).map((collection) => collection?.kind);
  assert.deepEqual(seen, ['expected', 'expected', 'kept', 'kept', undefined]);
  assert.deepEqual(predicted['young'], { kind: 'kept', finished: 4, threshold: 2 });
  const { podGc } = statusOf(world);
  assert.deepEqual([podGc?.finished, podGc?.threshold], [4, 2]);
  const actual = describeStatus(statusOf(world));
  assert.match(actual, /^ {2}collection next round in about 7s .*; 4 terminated pods, 2 are kept$/m);
  const { next } = explainPod(world, 'older');
  await comesTrue(world, secondsOf(next.when), 0, isGone(world, 'older'));
  assert.deepEqual(world.evicted().toSorted(), ['older', 'oldest']);
});

test('a threshold of 0 keeps every terminated pod', async () => {
  await using world = await aWorld({ terminatedPodGcThreshold: 0 });
  world.addPod('done', 'a-0');
  finish(world, 'done', 'Succeeded');
  assert.deepEqual(explainPod(world, 'done').collection, { kind: 'kept', finished: 1, threshold: null });
  await world.advance(60);
  assert.deepEqual(world.evicted(), []);
});

test('a terminating pod that was never bound is deleted in the next round', async () => {
  await using world = await aWorld();
  world.addPod('unbound', '', [], terminatedAt(world));
  const { collection, stays, next } = explainPod(world, 'unbound');
  assert.ok(collection?.kind === 'expected');
  assert.deepEqual([collection.why, collection.unless, stays], ['unscheduled', null, { why: 'already-terminating' }]);
  await comesTrue(world, secondsOf(next.when), 0, isGone(world, 'unbound'));
});

test('a pod that only finalizers keep is shown as such, without a prediction', async () => {
  await using world = await aWorld();
  world.addPod('held', 'nowhere', [], { ...terminatedAt(world), deletionGracePeriodSeconds: 0 });
  finish(world, 'held', 'Failed');
  const { collection, next } = explainPod(world, 'held');
  assert.deepEqual([collection, next.act], [{ kind: 'held-by-finalizers' }, 'none']);
  await world.advance(100);
  assert.deepEqual(world.evicted(), []);
});

test('a standby shows the reason and no time', async () => {
  const world = await aWorld();
  await world.stop();
  world.leading = false;
  world.addPod('web', 'nowhere');
  const { collection, next, holds } = explainPod(world, 'web');
  assert.ok(collection?.kind === 'expected');
  assert.deepEqual([collection.when.at, next.act, holds[0]?.kind], [null, 'none', 'not-leader']);
  assert.equal(statusOf(world).podGc?.nextRound.at, null);
});

test('the page has why an orphan is deleted, when, and what would prevent it', async () => {
  await using world = await aWorld();
  world.addPod('web', 'nowhere');
  await world.advance(25);
  const page = describePodOutlook(explainPod(world, 'web'));
  for (const line of [
    /^pod default\/web: Running, on node nowhere$/m,
    /^ {2}next +pod default\/web is deleted without a grace period: in about 30s \(2026-.*\), if nothing changes$/m,
    /^ {2}eviction +none: its node does not exist$/m,
    /^ {2}collection +its node does not exist; its quarantine ends: in about 30s .*: in about 30s .*, unless the node appears/m,
    /^ {4}2026-.*node nowhere: not found, 1 pods are bound to it/m,
  ]) {
    assert.match(page, line);
  }
});
