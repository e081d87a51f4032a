// What is predicted in eviction mode comes true, and what is not going to happen is not predicted.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { viewDaemonSet } from '../../../../src/api/daemonset.ts';
import { taintKeys } from '../../../../src/api/taints.ts';
import type { ControllerOptions } from '../../../../src/controller/options.ts';
import type { ControllerWorld } from '../../../support/controller-world.ts';
import { aZonedWorld, names } from '../../../support/zoned-world.ts';
import { comesTrue, secondsOf } from './coming-true.ts';
import { explainNode, explainPod, statusOf } from './explained.ts';

const timeoutSeconds = 120;

function aWorld(sizes: Readonly<Record<string, number>>, options: Partial<ControllerOptions> = {}): ControllerWorld {
  return aZonedWorld(sizes, { taintBasedEvictions: false, podEvictionTimeoutMs: timeoutSeconds * 1_000, ...options });
}

const isEvicted = (world: ControllerWorld, node: string): boolean =>
  world.lifecycle.stages.podEvictor?.markOf(node) === 'evicted';

const isGone = (world: ControllerWorld, pod: string): boolean => world.evicted().includes(pod);

function addDaemonSet(world: ControllerWorld, name: string): void {
  const selector = { matchLabels: { daemon: name } };
  const daemonSet = viewDaemonSet({ metadata: { namespace: 'default', name }, spec: { selector } });
  world.daemonSets.set(`default/${name}`, daemonSet);
}

test('a node that is Ready is told when its pods would leave if it fell silent now, and they leave then', async () => {
  const world = aWorld({ a: 10, b: 3 });
  world.addPod('web', 'a-4');
  world.start();
  await world.advance(20);
  world.goDark('a-4');
  await world.advance(3);
  const { eviction, evictions, noExecuteTaint, next } = explainNode(world, 'a-4');
  assert.deepEqual([noExecuteTaint, next.act], [null, 'mark-unknown']);
  assert.deepEqual([eviction?.mark, eviction?.given], ['unmarked', 'nothing-heard']);
  assert.equal(eviction?.due?.inSeconds, timeoutSeconds - 3 + 0.001);
  const turn = secondsOf(eviction.turn);
  assert.deepEqual([evictions.predicted, evictions.first[0]?.cause.kind], [1, 'node-evicted']);
  const pod = explainPod(world, 'web');
  assert.deepEqual(
    [pod.eviction?.state, pod.next.act, pod.next.given, pod.next.when?.inSeconds],
    ['predicted', 'evict-pod', 'nothing-heard', turn],
  );
  await comesTrue(world, turn, 0.15, () => isGone(world, 'web'));
  assert.deepEqual(world.taints('a-4'), ['unreachable:NoSchedule']);
  await world.stop();
});

test('a silent node is told that its pods are deleted next; later that they were, and of who lands there', async () => {
  const world = aWorld({ a: 10, b: 3 });
  world.addPod('web', 'a-4');
  world.start();
  world.goDark('a-4');
  await world.advance(80);
  const silent = explainNode(world, 'a-4');
  assert.deepEqual([silent.ready, silent.next.act, silent.next.given], ['Unknown', 'evict-node', 'nothing-heard']);
  assert.deepEqual(statusOf(world).evictedNodes, { timed: 1, evicted: 0 });
  await comesTrue(world, secondsOf(silent.next.when), 0.15, () => isEvicted(world, 'a-4') && isGone(world, 'web'));
  const evicted = explainNode(world, 'a-4');
  assert.deepEqual([evicted.eviction?.mark, evicted.eviction?.due, evicted.eviction?.turn], ['evicted', null, null]);
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
  await world.stop();
});

test('a kubelet that says False counts from when it began to, heard or not; silence counts anew', async () => {
  const world = aWorld({ a: 10, b: 3 });
  world.addPod('web', 'a-4');
  world.addPod('db', 'a-5');
  world.start();
  await world.advance(15);
  world.post('a-4', 'False');
  world.post('a-5', 'False');
  await world.advance(30);
  world.goDark('a-5');
  const said = explainNode(world, 'a-4');
  assert.deepEqual([said.eviction?.given, said.eviction?.due?.inSeconds], ['nothing-changes', 90.001]);
  await world.advance(60);
  const silent = explainNode(world, 'a-5');
  assert.deepEqual([silent.ready, silent.eviction?.given], ['Unknown', 'nothing-heard']);
  assert.ok(secondsOf(silent.eviction?.turn) > secondsOf(explainNode(world, 'a-4').eviction?.turn));
  await comesTrue(world, secondsOf(said.eviction?.turn) - 60, 0.15, () => isGone(world, 'web'));
  const turn = secondsOf(explainNode(world, 'a-5').eviction?.turn);
  await comesTrue(world, turn, 0.25, () => isGone(world, 'db'));
  await world.stop();
});

test('of several nodes each is told its own turn, long before its time is up, and the same in line', async () => {
  const world = aWorld({ a: 10, b: 3 });
  world.start();
  const fallen = ['a-2', 'a-7', 'a-1', 'a-5'];
  for (const name of fallen) {
    world.goDark(name);
    await world.advance(4);
  }
  await world.advance(60);
  const told = fallen.map((name) => world.seconds() + secondsOf(explainNode(world, name).eviction?.turn));
  assert.equal(Math.round(told[3]! - told[0]!), 30, 'three turns of ten seconds, and not twelve seconds');
  await world.advance(told[0]! - world.seconds() + 0.3);
  assert.deepEqual(
    fallen.map((name) => isEvicted(world, name)),
    [true, false, false, false],
  );
  await world.advance(15);
  const last = explainNode(world, 'a-5');
  assert.deepEqual([last.eviction?.mark, last.eviction?.due, last.line?.ahead], ['to-be-evicted', null, 1]);
  const turn = secondsOf(last.eviction?.turn);
  assert.ok(Math.abs(world.seconds() + turn - told[3]!) < 0.5, 'what was told before holds');
  await comesTrue(world, turn, 0.25, () => isEvicted(world, 'a-5'));
  await world.stop();
});

test('nodes that fell at the same moment have turns one after the other, and the last one is told so', async () => {
  const world = aWorld({ a: 20, b: 3 });
  world.start();
  world.goDark(...names(5, 'a-'));
  await world.advance(70);
  const turns = names(5, 'a-').map((name) => secondsOf(explainNode(world, name).eviction?.turn));
  const sorted = turns.toSorted((a, b) => a - b);
  assert.equal(Math.round(sorted[4]! - sorted[0]!), 40, 'four turns of ten seconds');
  const last = `a-${turns.indexOf(sorted[4]!)}`;
  await comesTrue(world, sorted[4]!, 0.5, () => isEvicted(world, last));
  await world.stop();
});

test('a fall that slows its zone down is told with the slower turns, and one that stops it with none', async () => {
  const rates = { nodeEvictionRate: 1, secondaryNodeEvictionRate: 0.05 };
  const world = aWorld({ a: 60, b: 5, c: 3 }, rates);
  world.start();
  world.goDark(...names(32, 'a-'), 'b-0', 'b-1');
  await world.advance(80.5);
  world.goDark('a-59', 'b-2');
  await world.advance(1);
  assert.equal(explainNode(world, 'b-2').eviction?.turn?.at, null);
  const turn = secondsOf(explainNode(world, 'a-59').eviction?.turn);
  await comesTrue(world, turn, 1, () => isEvicted(world, 'a-59'));
  assert.equal(explainNode(world, 'b-2').holds[0]?.kind, 'zone-stopped');
  assert.equal(isEvicted(world, 'b-2'), false);
  await world.stop();
});

test('a ControlPlanePathFailure moves the turns to its end, and the nodes of the storm leave then', async () => {
  const world = aWorld({ a: 4, b: 4, c: 1 }, { controlPlanePathFailureHoldMs: 200_000 });
  world.addPod('web', 'b-2');
  world.start();
  world.goDark(...names(4, 'a-'), ...names(4, 'b-'));
  await world.advance(150);
  const { holds, eviction } = explainNode(world, 'b-2');
  assert.equal(holds[0]?.kind, 'outage');
  const turn = secondsOf(eviction?.turn);
  assert.ok(turn >= 100, 'not before the end of the hold');
  assert.equal(explainPod(world, 'web').holds[0]?.kind, 'outage');
  await comesTrue(world, turn, 0.4, () => isGone(world, 'web'));
  await world.stop();
});

test('while every zone is dark no turn has a time, and afterwards the time that counts is a new one', async () => {
  const world = aWorld({ a: 2, b: 2 }, { controlPlanePathFailureHoldMs: 0 });
  world.addPod('web', 'a-1');
  world.start();
  world.goDark('a-0', 'a-1', 'b-0', 'b-1');
  await world.advance(200);
  const dark = explainNode(world, 'a-1');
  assert.deepEqual([dark.eviction?.due?.at, dark.eviction?.turn?.at], [null, null]);
  assert.equal(dark.holds[0]?.kind, 'every-zone-dark');
  assert.equal(isGone(world, 'web'), false);
  world.renewing('b-0');
  world.post('b-0', 'True');
  await world.advance(1);
  const turn = secondsOf(explainPod(world, 'web').eviction?.when);
  assert.ok(turn > timeoutSeconds - 2, `${turn} s`);
  await comesTrue(world, turn, 0.15, () => isGone(world, 'web'));
  await world.stop();
});

test('while we are blind, and on a standby, no turn has a time', async () => {
  const blind = aWorld({ a: 3 });
  blind.start();
  await blind.advance(20);
  const lastFrameAtMs = blind.clock.monotonicMs();
  blind.leases.lastFrameAtMs = () => lastFrameAtMs;
  blind.answering = false;
  blind.goDark('a-0');
  await blind.advance(30);
  const unseen = explainNode(blind, 'a-0');
  assert.deepEqual([unseen.holds[0]?.kind, unseen.eviction?.turn?.at], ['blind', null]);
  await blind.stop();
  const standby = aWorld({ a: 3 });
  standby.start();
  await standby.advance(5);
  assert.ok(explainNode(standby, 'a-0').eviction?.turn?.at);
  await standby.stop();
  standby.leading = false;
  const { eviction, next } = explainNode(standby, 'a-0');
  assert.deepEqual([eviction?.turn?.at, next.act], [null, 'none']);
});

test('a node that looks silent but could not be asked about has no turn, and has one when it could', async () => {
  const world = aWorld({ a: 5 });
  world.start();
  world.goDark('a-0');
  await world.advance(40);
  world.answering = false;
  await world.advance(20);
  const { ready, holds, eviction } = explainNode(world, 'a-0');
  assert.deepEqual([ready, holds[0]?.kind, eviction?.turn?.at], ['True', 'unconfirmed', null]);
  world.answering = true;
  await world.advance(10);
  await comesTrue(world, secondsOf(explainNode(world, 'a-0').eviction?.turn), 0.15, () => isEvicted(world, 'a-0'));
  await world.stop();
});

test('a timeout shorter than the grace period ends with it: nobody leaves before silence is called by its name', async () => {
  const world = aWorld({ a: 10, b: 3 }, { podEvictionTimeoutMs: 20_000 });
  world.start();
  await world.advance(10);
  world.goDark('a-4');
  await world.advance(5);
  const { eviction, next } = explainNode(world, 'a-4');
  assert.deepEqual([eviction?.due?.inSeconds, next.act], [45.001, 'mark-unknown']);
  await comesTrue(world, secondsOf(eviction?.turn), 0.15, () => isEvicted(world, 'a-4'));
  await world.stop();
});

test('whose time is up later does not stand before', async () => {
  const world = aWorld({ a: 10, b: 3 });
  world.start();
  await world.advance(60);
  world.goDark('a-4');
  await world.advance(40);
  world.post('a-5', 'False');
  await world.advance(5);
  assert.equal(world.ready('a-4'), 'True');
  assert.equal(statusOf(world).evictedNodes?.timed, 1);
  await comesTrue(world, secondsOf(explainNode(world, 'a-4').eviction?.turn), 0.15, () => isEvicted(world, 'a-4'));
  await world.stop();
});

test('who lands on an evicted node during a hold leaves at its end', async () => {
  const world = aWorld({ a: 5, b: 4, c: 1 }, { controlPlanePathFailureHoldMs: 100_000 });
  world.start();
  world.goDark('a-4');
  await world.advance(timeoutSeconds + 5);
  world.goDark(...names(4, 'a-'), ...names(4, 'b-'));
  await world.advance(60);
  world.addPod('late', 'a-4');
  await world.advance(1);
  const { eviction } = explainPod(world, 'late');
  assert.equal(eviction?.state, 'scheduled');
  assert.ok(secondsOf(eviction.when) > 80);
  await comesTrue(world, secondsOf(eviction.when), 1.1, () => isGone(world, 'late'));
  await world.stop();
});

test("a DaemonSet's pod is told that it is spared, by which one, and it stays when the others leave", async () => {
  const world = aWorld({ a: 5, b: 3 });
  addDaemonSet(world, 'agent');
  world.addPod('agent-x', 'a-0', [], { labels: { daemon: 'agent' } });
  world.addPod('web', 'a-0');
  world.start();
  world.goDark('a-0');
  await world.advance(60);
  const spared = explainPod(world, 'agent-x');
  assert.deepEqual(
    [spared.eviction, spared.stays, spared.next.act],
    [null, { why: 'daemon-set', daemonSet: 'agent' }, 'none'],
  );
  const { evictions } = explainNode(world, 'a-0');
  assert.deepEqual([evictions.predicted, evictions.spared], [1, 1]);
  await world.advance(120);
  assert.deepEqual(world.evicted(), ['web']);
  assert.deepEqual(explainPod(world, 'agent-x').stays, { why: 'daemon-set', daemonSet: 'agent' });
  await world.stop();
});

test('a node that is deleted keeps its place in line, and its pods are told its turn', async () => {
  const world = aWorld({ a: 10, b: 3 });
  world.addPod('web', 'a-1');
  world.start();
  world.goDark('a-0', 'a-1');
  await world.advance(timeoutSeconds + 2);
  assert.deepEqual([isEvicted(world, 'a-0'), explainNode(world, 'a-1').eviction?.mark], [true, 'to-be-evicted']);
  world.removeNode('a-1');
  await world.advance(1);
  const { eviction, history } = explainPod(world, 'web');
  assert.deepEqual([eviction?.state, eviction?.given], ['predicted', 'nothing-changes']);
  assert.ok(history.some(({ decision }) => decision.kind === 'node-eviction-queued'));
  await comesTrue(world, secondsOf(eviction?.when), 0.15, () => isGone(world, 'web'));
  await world.stop();
});

test('the line of a deleted node can stand still; its pods are told so, and who else might come for them', async () => {
  const world = aWorld({ a: 5, b: 3 });
  world.addPod('web', 'a-0');
  world.start();
  world.goDark(...names(4, 'a-'));
  await world.advance(timeoutSeconds + 2);
  world.removeNode('a-0');
  await world.advance(10);
  const { eviction, holds } = explainPod(world, 'web');
  assert.deepEqual(
    [eviction?.state, eviction?.when.at, holds.map(({ kind }) => kind)],
    ['predicted', null, ['zone-stopped', 'not-run']],
  );
  await world.advance(100);
  assert.equal(isGone(world, 'web'), false);
  await world.stop();
});

test('no NoExecute taint is foreseen; what taint mode left goes when the node is Ready, and not before', async () => {
  const world = aWorld({ a: 3, b: 1 });
  const left = [{ key: taintKeys.unreachable, effect: 'NoExecute' }];
  world.addNode('a-ready', { zone: 'a', taints: left });
  world.addNode('a-dark', { zone: 'a', taints: left });
  world.renewing('a-ready');
  const ready = explainNode(world, 'a-ready');
  assert.deepEqual(
    [ready.next.act, ready.next.subject, ready.next.when?.inSeconds],
    ['change-taints', `-${taintKeys.unreachable}:NoExecute`, 0],
  );
  world.start();
  world.post('a-dark', 'Unknown');
  await world.advance(60);
  assert.deepEqual(world.taints('a-ready'), []);
  const dark = explainNode(world, 'a-dark');
  assert.deepEqual(
    dark.taints.wanted?.map(({ key, effect }) => `${key}:${effect}`),
    [`${taintKeys.unreachable}:NoSchedule`, `${taintKeys.unreachable}:NoExecute`],
  );
  assert.deepEqual([dark.noExecuteTaint, dark.next.act], [null, 'evict-node']);
  assert.deepEqual(world.taints('a-dark'), ['unreachable:NoExecute', 'unreachable:NoSchedule']);
  await world.stop();
});
