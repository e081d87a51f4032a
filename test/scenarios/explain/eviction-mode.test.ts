// Predictions in eviction mode come true, and nothing else is predicted.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { taintKeys } from '../../../src/machinery/api/taints.ts';
import type { ControllerOptions } from '../../../src/controller/model/options.ts';
import { aDaemonSetView } from '../../support/builders.ts';
import type { ControllerWorld } from '../../support/controller-world.ts';
import { aZonedWorld, names } from '../../support/zoned-world.ts';
import { comesTrue, secondsOf } from '../../support/coming-true.ts';
import { explainNode, explainPod, statusOf } from '../../support/explained.ts';

const timeoutSeconds = 120;

function aWorld(sizes: Readonly<Record<string, number>>, options: Partial<ControllerOptions> = {}): ControllerWorld {
  return aZonedWorld(sizes, { taintBasedEvictions: false, podEvictionTimeoutMs: timeoutSeconds * 1_000, ...options });
}

const isEvicted = (world: ControllerWorld, node: string): boolean =>
  world.lifecycle.stages.podEvictor?.markOf(node) === 'evicted';

const isGone = (world: ControllerWorld, pod: string): boolean => world.evicted().includes(pod);

test('a Ready node has the time at which its pods are deleted if it became silent now, and they are deleted then', async () => {
  await using world = aWorld({ a: 10, b: 3 });
  world.addPod('web', 'a-4');
  await world.running(20);
  await world.silentFor(3, 'a-4');
  const { eviction, evictions, noExecuteTaint, next } = explainNode(world, 'a-4');
  assert.deepEqual([noExecuteTaint, next.act], [null, 'mark-unknown']);
  assert.deepEqual([eviction?.mark, eviction?.given], ['unmarked', 'no-heartbeat']);
  assert.equal(eviction?.due?.inSeconds, timeoutSeconds - 3 + 0.001);
  const turn = secondsOf(eviction.slot);
  assert.deepEqual([evictions.predicted, evictions.first[0]?.cause.kind], [1, 'node-evicted']);
  const pod = explainPod(world, 'web');
  const expected = ['predicted', 'evict-pod', 'no-heartbeat', turn];
  assert.deepEqual([pod.eviction?.state, pod.next.act, pod.next.given, pod.next.when?.inSeconds], expected);
  await comesTrue(world, turn, 0.15, () => isGone(world, 'web'));
  assert.deepEqual(world.taints('a-4'), ['unreachable:NoSchedule']);
});

test('a silent node shows that its pods are deleted next; later that they were, and that pods bound later are deleted', async () => {
  await using world = aWorld({ a: 10, b: 3 });
  world.addPod('web', 'a-4');
  await world.start().silentFor(80, 'a-4');
  const silent = explainNode(world, 'a-4');
  assert.deepEqual([silent.ready, silent.next.act, silent.next.given], ['Unknown', 'evict-node', 'no-heartbeat']);
  assert.deepEqual(statusOf(world).evictedNodes, { timed: 1, evicted: 0 });
  await comesTrue(world, secondsOf(silent.next.when), 0.15, () => isEvicted(world, 'a-4') && isGone(world, 'web'));
  const evicted = explainNode(world, 'a-4');
  assert.deepEqual([evicted.eviction?.mark, evicted.eviction?.due, evicted.eviction?.slot], ['evicted', null, null]);
  assert.equal(evicted.next.act, 'none');
  assert.deepEqual(statusOf(world).evictedNodes, { timed: 0, evicted: 1 });
  assert.deepEqual(explainPod(world, 'web').stays, { why: 'already-terminating' });
  world.failNext('delete', 'pods', 'internal');
  world.addPod('late', 'a-4');
  const late = explainPod(world, 'late');
  assert.deepEqual([late.eviction?.state, late.next.act, late.next.when?.inSeconds], ['scheduled', 'evict-pod', 0]);
  assert.equal(explainNode(world, 'a-4').next.act, 'evict-pod');
  await world.advance(1);
  assert.equal(isGone(world, 'late'), true);
});

test('Ready=False counts from its transition, with or without heartbeats; silence starts again', async () => {
  await using world = aWorld({ a: 10, b: 3 });
  world.addPod('web', 'a-4');
  world.addPod('db', 'a-5');
  await world.running(15);
  world.post('a-4', 'False');
  world.post('a-5', 'False');
  await world.advance(30);
  world.goSilent('a-5');
  const said = explainNode(world, 'a-4');
  assert.deepEqual([said.eviction?.given, said.eviction?.due?.inSeconds], ['nothing-changes', 90.001]);
  await world.advance(60);
  const silent = explainNode(world, 'a-5');
  assert.deepEqual([silent.ready, silent.eviction?.given], ['Unknown', 'no-heartbeat']);
  assert.ok(secondsOf(silent.eviction?.slot) > secondsOf(explainNode(world, 'a-4').eviction?.slot));
  await comesTrue(world, secondsOf(said.eviction?.slot) - 60, 0.15, () => isGone(world, 'web'));
  const turn = secondsOf(explainNode(world, 'a-5').eviction?.slot);
  await comesTrue(world, turn, 0.25, () => isGone(world, 'db'));
});

test('each of several nodes has its own time, long before its timeout ends, and the same in the queue', async () => {
  await using world = aWorld({ a: 10, b: 3 }).start();
  const silent = ['a-2', 'a-7', 'a-1', 'a-5'];
  for (const name of silent) {
    await world.silentFor(4, name);
  }
  await world.advance(60);
  const predicted = silent.map((name) => world.seconds() + secondsOf(explainNode(world, name).eviction?.slot));
  assert.equal(Math.round(predicted[3]! - predicted[0]!), 30, 'three slots of ten seconds, not twelve seconds');
  await world.advance(predicted[0]! - world.seconds() + 0.3);
  const seen = silent.map((name) => isEvicted(world, name));
  assert.deepEqual(seen, [true, false, false, false]);
  await world.advance(15);
  const last = explainNode(world, 'a-5');
  assert.deepEqual([last.eviction?.mark, last.eviction?.due, last.queue?.ahead], ['to-be-evicted', null, 1]);
  const turn = secondsOf(last.eviction?.slot);
  assert.ok(Math.abs(world.seconds() + turn - predicted[3]!) < 0.5, 'the earlier prediction holds');
  await comesTrue(world, turn, 0.25, () => isEvicted(world, 'a-5'));
});

test('nodes that became silent at the same time are served one after the other, and the last one shows that', async () => {
  await using world = aWorld({ a: 20, b: 3 }).start();
  await world.silentFor(70, ...names(5, 'a-'));
  const turns = names(5, 'a-').map((name) => secondsOf(explainNode(world, name).eviction?.slot));
  const sorted = turns.toSorted((a, b) => a - b);
  assert.equal(Math.round(sorted[4]! - sorted[0]!), 40, 'four slots of ten seconds');
  const last = `a-${turns.indexOf(sorted[4]!)}`;
  await comesTrue(world, sorted[4]!, 0.5, () => isEvicted(world, last));
});

test('a silence that slows the zone down is predicted at the slower rate, and one that stops it without a time', async () => {
  const rates = { nodeEvictionRate: 1, secondaryNodeEvictionRate: 0.05 };
  await using world = aWorld({ a: 60, b: 5, c: 3 }, rates).start();
  await world.silentFor(80.5, ...names(32, 'a-'), 'b-0', 'b-1');
  await world.silentFor(1, 'a-59', 'b-2');
  assert.equal(explainNode(world, 'b-2').eviction?.slot?.at, null);
  const turn = secondsOf(explainNode(world, 'a-59').eviction?.slot);
  await comesTrue(world, turn, 1, () => isEvicted(world, 'a-59'));
  assert.equal(explainNode(world, 'b-2').holds[0]?.kind, 'zone-stopped');
  assert.equal(isEvicted(world, 'b-2'), false);
});

test('a ControlPlanePathFailure moves the deletions to its end, and they happen then', async () => {
  await using world = aWorld({ a: 4, b: 4, c: 1 }, { controlPlanePathFailureHoldMs: 200_000 });
  world.addPod('web', 'b-2');
  await world.start().silentFor(150, ...names(4, 'a-'), ...names(4, 'b-'));
  const { holds, eviction } = explainNode(world, 'b-2');
  assert.equal(holds[0]?.kind, 'outage');
  const turn = secondsOf(eviction?.slot);
  assert.ok(turn >= 100, 'not before the end of the hold');
  assert.equal(explainPod(world, 'web').holds[0]?.kind, 'outage');
  await comesTrue(world, turn, 0.4, () => isGone(world, 'web'));
});

test('in a full disruption no time is predicted, and afterwards a new one', async () => {
  await using world = aWorld({ a: 2, b: 2 }, { controlPlanePathFailureHoldMs: 0 });
  world.addPod('web', 'a-1');
  await world.start().silentFor(200, 'a-0', 'a-1', 'b-0', 'b-1');
  const disrupted = explainNode(world, 'a-1');
  assert.deepEqual([disrupted.eviction?.due?.at, disrupted.eviction?.slot?.at], [null, null]);
  assert.equal(disrupted.holds[0]?.kind, 'full-disruption');
  assert.equal(isGone(world, 'web'), false);
  world.recover('b-0');
  await world.advance(1);
  const turn = secondsOf(explainPod(world, 'web').eviction?.when);
  assert.ok(turn > timeoutSeconds - 2, `${turn} s`);
  await comesTrue(world, turn, 0.15, () => isGone(world, 'web'));
});

test('while watches are stale, and on a standby, no time is predicted', async () => {
  const stale = aWorld({ a: 3 });
  stale.start();
  await stale.advance(20);
  stale.loseContact();
  stale.goSilent('a-0');
  await stale.advance(30);
  const unseen = explainNode(stale, 'a-0');
  assert.deepEqual([unseen.holds[0]?.kind, unseen.eviction?.slot?.at], ['stale', null]);
  await stale.stop();
  const standby = aWorld({ a: 3 });
  standby.start();
  await standby.advance(5);
  assert.ok(explainNode(standby, 'a-0').eviction?.slot?.at);
  await standby.stop();
  standby.leading = false;
  const { eviction, next } = explainNode(standby, 'a-0');
  assert.deepEqual([eviction?.slot?.at, next.act], [null, 'none']);
});

test('a silent node whose lease cannot be read has no predicted time until it can be read', async () => {
  await using world = aWorld({ a: 5 }).start();
  await world.silentFor(40, 'a-0');
  world.answering = false;
  await world.advance(20);
  const { ready, holds, eviction } = explainNode(world, 'a-0');
  assert.deepEqual([ready, holds[0]?.kind, eviction?.slot?.at], ['True', 'unconfirmed', null]);
  world.answering = true;
  await world.advance(10);
  await comesTrue(world, secondsOf(explainNode(world, 'a-0').eviction?.slot), 0.15, () => isEvicted(world, 'a-0'));
});

test('a timeout shorter than the grace period ends with it: no pod is deleted before the node is silent', async () => {
  await using world = await aWorld({ a: 10, b: 3 }, { podEvictionTimeoutMs: 20_000 }).running(10);
  await world.silentFor(5, 'a-4');
  const { eviction, next } = explainNode(world, 'a-4');
  assert.deepEqual([eviction?.due?.inSeconds, next.act], [45.001, 'mark-unknown']);
  await comesTrue(world, secondsOf(eviction?.slot), 0.15, () => isEvicted(world, 'a-4'));
});

test('a node whose timeout ends later is not counted ahead', async () => {
  await using world = await aWorld({ a: 10, b: 3 }).running(60);
  await world.silentFor(40, 'a-4');
  world.post('a-5', 'False');
  await world.advance(5);
  assert.equal(world.ready('a-4'), 'True');
  assert.equal(statusOf(world).evictedNodes?.timed, 1);
  await comesTrue(world, secondsOf(explainNode(world, 'a-4').eviction?.slot), 0.15, () => isEvicted(world, 'a-4'));
});

test('a pod bound to an evicted node is deleted at once: a hold for other nodes does not apply', async () => {
  await using world = aWorld({ a: 5, b: 4, c: 1 }, { controlPlanePathFailureHoldMs: 100_000 }).start();
  await world.silentFor(timeoutSeconds + 5, 'a-4');
  await world.silentFor(60, ...names(4, 'a-'), ...names(4, 'b-'));
  assert.notEqual(world.lifecycle.stages.outage.hold(), undefined);
  world.addPod('late', 'a-4');
  await world.advance(1);
  assert.equal(isGone(world, 'late'), true);
});

test('a DaemonSet pod shows that it is kept, and by which DaemonSet, and it stays when the others are deleted', async () => {
  await using world = aWorld({ a: 5, b: 3 });
  world.daemonSets.set('default/agent', aDaemonSetView('default', 'agent', { daemon: 'agent' }));
  world.addPod('agent-x', 'a-0', [], { labels: { daemon: 'agent' } });
  world.addPod('web', 'a-0');
  await world.start().silentFor(60, 'a-0');
  const spared = explainPod(world, 'agent-x');
  const expected = [null, { why: 'daemon-set', daemonSet: 'agent' }, 'none'];
  assert.deepEqual([spared.eviction, spared.stays, spared.next.act], expected);
  const { evictions } = explainNode(world, 'a-0');
  assert.deepEqual([evictions.predicted, evictions.spared], [1, 1]);
  await world.advance(120);
  assert.deepEqual(world.evicted(), ['web']);
  assert.deepEqual(explainPod(world, 'agent-x').stays, { why: 'daemon-set', daemonSet: 'agent' });
});

test('a deleted node keeps its place in the queue, and its pods show when it is served', async () => {
  await using world = aWorld({ a: 10, b: 3 });
  world.addPod('web', 'a-1');
  await world.start().silentFor(timeoutSeconds + 2, 'a-0', 'a-1');
  assert.deepEqual([isEvicted(world, 'a-0'), explainNode(world, 'a-1').eviction?.mark], [true, 'to-be-evicted']);
  world.removeNode('a-1');
  await world.advance(1);
  const { eviction, history } = explainPod(world, 'web');
  assert.deepEqual([eviction?.state, eviction?.given], ['predicted', 'nothing-changes']);
  assert.ok(history.some(({ decision }) => decision.kind === 'node-eviction-queued'));
  // A live read confirms that the node was deleted.
  await comesTrue(world, secondsOf(eviction?.when), 1.15, () => isGone(world, 'web'));
});

test('the queue of a deleted node can be stopped; its pods show that, and what else may delete them', async () => {
  await using world = aWorld({ a: 5, b: 3 });
  world.addPod('web', 'a-0');
  await world.start().silentFor(timeoutSeconds + 2, ...names(4, 'a-'));
  world.removeNode('a-0');
  await world.advance(10);
  const { eviction, holds } = explainPod(world, 'web');
  const seen = [eviction?.state, eviction?.when.at, holds.map(({ kind }) => kind)];
  assert.deepEqual(seen, ['predicted', null, ['zone-stopped', 'not-run']]);
  await world.advance(100);
  assert.equal(isGone(world, 'web'), false);
});

test('no NoExecute taint is predicted; taints of taint mode are removed when the node is Ready, and not before', async () => {
  await using world = aWorld({ a: 3, b: 1 });
  const left = [{ key: taintKeys.unreachable, effect: 'NoExecute' }];
  world.addNode('a-ready', { zone: 'a', taints: left });
  world.addNode('a-silent', { zone: 'a', taints: left });
  world.renewing('a-ready');
  const ready = explainNode(world, 'a-ready');
  const expected = ['change-taints', `-${taintKeys.unreachable}:NoExecute`, 0];
  assert.deepEqual([ready.next.act, ready.next.subject, ready.next.when?.inSeconds], expected);
  world.start();
  world.post('a-silent', 'Unknown');
  await world.advance(60);
  assert.deepEqual(world.taints('a-ready'), []);
  const disrupted = explainNode(world, 'a-silent');
  const seen = disrupted.taints.wanted?.map(({ key, effect }) => `${key}:${effect}`);
  assert.deepEqual(seen, [`${taintKeys.unreachable}:NoSchedule`, `${taintKeys.unreachable}:NoExecute`]);
  assert.deepEqual([disrupted.noExecuteTaint, disrupted.next.act], [null, 'evict-node']);
  assert.deepEqual(world.taints('a-silent'), ['unreachable:NoExecute', 'unreachable:NoSchedule']);
});
