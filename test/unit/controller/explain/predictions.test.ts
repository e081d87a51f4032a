// What is predicted comes true: each story asks, waits until just before, looks, waits until just after, looks again.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { taintKeys } from '../../../../src/api/taints.ts';
import { describeHold } from '../../../../src/controller/explain/describe-values.ts';
import { ControllerWorld } from '../../../support/controller-world.ts';
import { aZonedWorld, names } from '../../../support/zoned-world.ts';
import { comesTrue, secondsOf } from './coming-true.ts';
import { explainNode, explainPod } from './explained.ts';

const isTainted = (world: ControllerWorld, node: string): boolean =>
  world.taints(node).includes('unreachable:NoExecute');

test('a node that stops talking falls silent when it is said to, by the heartbeat and the rule that are named', async () => {
  const world = aZonedWorld({ a: 3 });
  world.start();
  await world.advance(30);
  world.goDark('a-1');
  await world.advance(7);
  const outlook = explainNode(world, 'a-1');
  assert.deepEqual(
    [outlook.heard?.channel, outlook.heard?.secondsAgo, outlook.grace],
    ['lease', 7, { seconds: 50, rule: 'monitor', flag: 'node-monitor-grace-period' }],
  );
  assert.deepEqual(
    [outlook.silence?.silent, outlook.next.act, outlook.next.given],
    [false, 'mark-unknown', 'nothing-heard'],
  );
  assert.ok(outlook.next.when && outlook.silence?.from);
  assert.deepEqual(outlook.next.when, outlook.silence.from);
  assert.equal(outlook.next.when.at, '2026-01-02T03:05:25.001000Z');
  await comesTrue(world, secondsOf(outlook.next.when), 0.01, () => world.ready('a-1') === 'Unknown');
  const after = explainNode(world, 'a-1');
  assert.equal(after.silence?.silent, true);
  assert.ok((after.silence.since?.secondsAgo ?? Infinity) < 0.1);
  await world.stop();
});

test('a node that never posted is as old as its creation, and the startup rule applies', async () => {
  const world = new ControllerWorld();
  world.addNode('n', { zone: 'a' });
  const stored = world.nodes.get('n');
  assert.ok(stored);
  world.nodes.set('fresh', { ...stored, name: 'fresh', uid: 'u-fresh', conditions: [] });
  world.start();
  await world.advance(10);
  const outlook = explainNode(world, 'fresh');
  assert.deepEqual(
    [outlook.ready, outlook.heard?.channel, outlook.grace?.rule, outlook.silence?.from?.inSeconds],
    ['missing', 'creation', 'startup', 50.001],
  );
  await world.stop();
});

test('a node that did not fall silent yet is told when its taint would come, and it comes then', async () => {
  const world = aZonedWorld({ a: 10, b: 3 });
  world.start();
  await world.advance(20);
  world.goDark('a-4');
  await world.advance(3);
  const outlook = explainNode(world, 'a-4');
  assert.equal(outlook.noExecuteTaint?.key, taintKeys.unreachable);
  assert.equal(outlook.line, null);
  await comesTrue(world, secondsOf(outlook.noExecuteTaint.when), 0.15, () => isTainted(world, 'a-4'));
  await world.stop();
});

test('in a large zone that is disrupted the arithmetic is told, and the turn at the secondary rate comes true', async () => {
  const world = aZonedWorld({ a: 60, b: 3 });
  world.start();
  world.goDark(...names(36, 'a-'));
  await world.advance(55);
  const waiting = explainNode(world, 'a-9');
  assert.equal(
    waiting.zone.arithmetic?.reading,
    '36/60 not ready = 0.60 >= 0.55 -> partially-disrupted, zone size 60 > 50 -> rate 0.01',
  );
  assert.equal(waiting.zone.arithmetic.rule, 'large-zone-disrupted');
  assert.ok(waiting.line && waiting.line.ahead > 0);
  assert.equal(waiting.next.act, 'add-taint');
  assert.equal(waiting.next.subject, `${taintKeys.unreachable}:NoExecute`);
  assert.deepEqual(waiting.holds, []);
  // Two turns from now, a hundred seconds apart.
  const second = explainNode(world, waiting.zone.line.first[1] ?? '');
  assert.equal(second.line?.ahead, 1);
  const seconds = secondsOf(second.noExecuteTaint?.when ?? assert.fail('a time'));
  assert.ok(seconds > 100 && seconds < 200, `${seconds} s`);
  await comesTrue(world, seconds, 0.25, () => isTainted(world, second.node));
  assert.equal(explainNode(world, second.node).noExecuteTaint, null);
  await world.stop();
});

test('in a small zone that is disrupted there is no time, but what would give it one', async () => {
  const world = aZonedWorld({ a: 5, b: 3 });
  world.start();
  world.goDark('a-0', 'a-1', 'a-2');
  await world.advance(60);
  const outlook = explainNode(world, 'a-1');
  assert.equal(
    outlook.zone.arithmetic?.reading,
    '3/5 not ready = 0.60 >= 0.55 -> partially-disrupted, zone size 5 <= 50 -> rate 0',
  );
  assert.deepEqual(outlook.noExecuteTaint?.when, { estimate: true, at: null, inSeconds: null });
  assert.deepEqual(outlook.holds, [
    {
      kind: 'zone-stopped',
      zone: 'r/a',
      rule: 'small-zone-disrupted',
      unblockedBy: [{ kind: 'nodes-ready', zone: 'r/a', count: 1 }],
    },
  ]);
  await world.advance(300);
  assert.equal(isTainted(world, 'a-1'), false);
  world.renewing('a-2');
  world.post('a-2', 'True');
  await world.advance(0.01);
  const freed = explainNode(world, 'a-1');
  assert.deepEqual(freed.holds, []);
  await comesTrue(world, secondsOf(freed.noExecuteTaint?.when ?? assert.fail('a time')), 0.15, () =>
    isTainted(world, 'a-1'),
  );
  await world.stop();
});

test('falling silent would stop the zone: no time is promised for a node that is still heard', async () => {
  const world = aZonedWorld({ a: 5, b: 3 });
  world.start();
  world.goDark('a-0', 'a-1');
  await world.advance(80);
  world.goDark('a-2');
  assert.equal(explainNode(world, 'a-2').noExecuteTaint?.when.at, null);
  await world.advance(120);
  assert.equal(isTainted(world, 'a-2'), false);
  await world.stop();
});

test('while every zone is dark nothing is predicted, and one ready node anywhere would change that', async () => {
  const world = aZonedWorld({ a: 3, b: 3 }, { controlPlanePathFailureHoldMs: 0 });
  world.start();
  world.goDark(...names(3, 'a-'), ...names(3, 'b-'));
  await world.advance(60);
  const outlook = explainNode(world, 'b-1');
  assert.deepEqual(outlook.holds, [
    { kind: 'every-zone-dark', unblockedBy: [{ kind: 'nodes-ready', zone: null, count: 1 }] },
  ]);
  assert.equal(outlook.noExecuteTaint, null);
  assert.match(
    outlook.zone.arithmetic?.reading ?? '',
    /^3\/3 not ready = 1.00, none ready -> fully-disrupted, no zone/,
  );
  await world.stop();
});

test('a ControlPlanePathFailure is a hold with its arithmetic and its end, and the taint comes when it is over', async () => {
  const world = aZonedWorld({ a: 4, b: 4, c: 1 }, { controlPlanePathFailureHoldMs: 60_000 });
  world.start();
  world.goDark(...names(4, 'a-'), ...names(4, 'b-'));
  await world.advance(80);
  const { holds, noExecuteTaint, line } = explainNode(world, 'b-2');
  const hold = holds.find(({ kind }) => kind === 'outage');
  assert.ok(hold?.kind === 'outage');
  assert.deepEqual([hold.why.together, hold.why.of, hold.why.zonesStruck, hold.why.zones], [8, 9, 2, 3]);
  const [time, nodes] = hold.unblockedBy;
  assert.ok(time?.kind === 'time' && nodes?.kind === 'nodes-ready');
  assert.equal(Math.round(secondsOf(time.when)), 30);
  assert.equal(nodes.count, 3, '5 of 9 are less than 60 %');
  assert.match(describeHold(hold), /^ControlPlanePathFailure: 8 of 9 nodes in 2 of 3 zones fell silent together/);
  assert.ok(noExecuteTaint && line);
  const inSeconds = secondsOf(noExecuteTaint.when);
  assert.equal(Math.round(inSeconds), 30 + 10 * line.ahead);
  await comesTrue(world, inSeconds, 0.1 * (line.ahead + 1), () => isTainted(world, 'b-2'));
  await world.stop();
});

test('a pod is told its eviction: predicted before the taint, scheduled after it, and it happens then', async () => {
  const world = aZonedWorld({ a: 10, b: 3 });
  world.addPod('web', 'a-4', [{ key: taintKeys.unreachable, operator: 'Exists', tolerationSeconds: 300 }]);
  world.addPod('agent', 'a-4', [{ operator: 'Exists' }]);
  world.start();
  world.goDark('a-4');
  await world.advance(20);
  const before = explainPod(world, 'web');
  assert.deepEqual(
    [before.eviction?.state, before.eviction?.cause, before.eviction?.given],
    ['predicted', { kind: 'taint', taint: taintKeys.unreachable, toleratedSeconds: 300 }, 'nothing-heard'],
  );
  const predictedSeconds = world.seconds() + secondsOf(before.eviction?.when ?? assert.fail('a time'));
  await world.advance(100);
  const scheduled = explainPod(world, 'web');
  assert.equal(scheduled.eviction?.state, 'scheduled');
  assert.equal(scheduled.next.act, 'evict-pod');
  const [patience] = scheduled.taints;
  assert.deepEqual(
    [patience?.taint.key, patience?.toleratedSeconds, patience?.toleration?.tolerationSeconds],
    [taintKeys.unreachable, 300, 300],
  );
  assert.ok(scheduled.history.some(({ decision }) => decision.kind === 'eviction-scheduled'));
  const scheduledSeconds = secondsOf(scheduled.eviction?.when ?? assert.fail('a time'));
  assert.ok(Math.abs(world.seconds() + scheduledSeconds - predictedSeconds) < 0.2);
  const node = explainNode(world, 'a-4');
  assert.deepEqual([node.evictions.scheduled, node.next.act, node.next.subject], [1, 'evict-pod', 'default/web']);
  assert.equal(explainPod(world, 'agent').eviction, null);
  assert.equal(explainPod(world, 'agent').taints[0]?.ends, null);
  await comesTrue(world, scheduledSeconds, 0.1, () => world.evicted().includes('web'));
  assert.equal(world.evicted().includes('agent'), false);
  await world.stop();
});

test('a pod that is not going to be evicted is told why', async () => {
  const world = aZonedWorld({ a: 10, b: 3 });
  const forever = [{ key: taintKeys.unreachable, operator: 'Exists' }];
  world.addPod('unbound', '');
  world.addPod('lost', 'nowhere');
  world.addPod('agent', 'a-4', forever);
  world.addPod('leaving', 'a-4', [], { deletionTimestamp: '2026-01-02T03:04:05Z' });
  const why = (pod: string): string | undefined => explainPod(world, pod).stays?.why;
  world.start();
  await world.advance(20);
  world.goDark('a-4');
  assert.deepEqual(['unbound', 'lost', 'agent', 'leaving'].map(why), [
    'not-bound',
    'node-unknown',
    'tolerates-for-ever',
    'already-terminating',
  ]);
  await world.advance(100);
  assert.equal(isTainted(world, 'a-4'), true);
  assert.equal(why('agent'), 'tolerates-for-ever');
  assert.deepEqual(world.evicted(), []);
  await world.stop();
});

test('a node whose taints must go is told that they go now', async () => {
  const world = aZonedWorld({ a: 3 });
  world.addNode('a-x', { zone: 'a', taints: [{ key: taintKeys.unreachable, effect: 'NoExecute' }] });
  const { next, taints } = explainNode(world, 'a-x');
  assert.deepEqual(
    [next.act, next.subject, next.when?.inSeconds],
    ['change-taints', `-${taintKeys.unreachable}:NoExecute`, 0],
  );
  assert.deepEqual(taints.wanted, []);
  world.start();
  await world.advance(1);
  assert.deepEqual(world.taints('a-x'), []);
  await world.stop();
});

test('a standby says that it is one, whom to ask, and predicts no act of its own', async () => {
  const world = aZonedWorld({ a: 3 });
  world.leading = false;
  await world.advance(5);
  const { holds, next, silence, noExecuteTaint } = explainNode(world, 'a-0');
  assert.deepEqual(holds, [{ kind: 'not-leader', unblockedBy: [{ kind: 'ask-leader', holder: 'them' }] }]);
  assert.deepEqual([next.act, noExecuteTaint?.when.at], ['none', null]);
  assert.ok(silence?.from?.at, 'heartbeats are noticed, leader or not');
});

test('while we are blind no node is told a time to fall silent, and the reason stands there', async () => {
  const world = aZonedWorld({ a: 3 });
  world.start();
  await world.advance(20);
  const lastFrameAtMs = world.clock.monotonicMs();
  world.leases.lastFrameAtMs = () => lastFrameAtMs;
  world.answering = false;
  world.goDark('a-0');
  await world.advance(30);
  const { holds, silence, next } = explainNode(world, 'a-0');
  assert.deepEqual(holds, [{ kind: 'blind', reason: 'no-contact', unblockedBy: [{ kind: 'contact-with-api' }] }]);
  assert.deepEqual([silence?.silent, silence?.from?.at, next.when?.at], [false, null, null]);
  await world.stop();
});

test('after an outage the grace counts from its end, and nobody is said to have been heard', async () => {
  const world = aZonedWorld({ a: 2, b: 2 });
  world.start();
  world.goDark('a-0', 'a-1', 'b-0', 'b-1');
  await world.advance(70);
  world.post('a-0', 'True');
  world.renewing('a-0');
  await world.advance(1);
  const silent = explainNode(world, 'b-1');
  assert.deepEqual([silent.heard?.channel, silent.heard?.secondsAgo], ['outage-end', 1]);
  await world.stop();
});

test('a node that looks silent but could not be asked about is held, not predicted', async () => {
  const world = aZonedWorld({ a: 3 });
  world.start();
  world.goDark('a-0');
  await world.advance(40);
  world.answering = false;
  await world.advance(20);
  const { ready, silence, holds, next, noExecuteTaint } = explainNode(world, 'a-0');
  assert.deepEqual([ready, silence?.silent], ['True', true]);
  assert.deepEqual(holds, [{ kind: 'unconfirmed', unblockedBy: [{ kind: 'contact-with-api' }] }]);
  assert.deepEqual([next.act, next.when?.at, noExecuteTaint?.when.at], ['mark-unknown', null, null]);
  world.answering = true;
  await world.advance(10);
  assert.deepEqual([world.ready('a-0'), explainNode(world, 'a-0').holds], ['Unknown', []]);
  await world.stop();
});
