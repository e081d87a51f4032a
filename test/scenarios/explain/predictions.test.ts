// Predictions come true: each test reads one, waits until just before and just after, and checks both times.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { taintKeys } from '../../../src/machinery/api/taints.ts';
import { describeHold } from '../../../src/controller/report/text/describe-holds.ts';
import { aNodeView } from '../../support/builders.ts';
import { ControllerWorld } from '../../support/controller-world.ts';
import { aZonedWorld, names } from '../../support/zoned-world.ts';
import { comesTrue, secondsOf } from '../../support/coming-true.ts';
import { explainNode, explainPod } from '../../support/explained.ts';

const isTainted = (world: ControllerWorld, node: string): boolean =>
  world.taints(node).includes('unreachable:NoExecute');

test('a node becomes silent at the predicted time, by the heartbeat and the rule that are shown', async () => {
  await using world = await aZonedWorld({ a: 3 }).running(30);
  await world.silentFor(7, 'a-1');
  const outlook = explainNode(world, 'a-1');
  const expected = ['lease', 7, { seconds: 50, rule: 'monitor', flag: 'node-monitor-grace-period', policy: null }];
  assert.deepEqual([outlook.lastHeartbeat?.channel, outlook.lastHeartbeat?.secondsAgo, outlook.grace], expected);
  const seen = [outlook.silence?.silent, outlook.next.act, outlook.next.given];
  assert.deepEqual(seen, [false, 'mark-unknown', 'no-heartbeat']);
  assert.ok(outlook.next.when && outlook.silence?.from);
  assert.deepEqual(outlook.next.when, outlook.silence.from);
  assert.equal(outlook.next.when.at, '2026-01-02T03:05:25.001000Z');
  await comesTrue(world, secondsOf(outlook.next.when), 0.01, () => world.ready('a-1') === 'Unknown');
  const after = explainNode(world, 'a-1');
  assert.equal(after.silence?.silent, true);
  assert.ok((after.silence.since?.secondsAgo ?? Infinity) < 0.1);
});

test('a node that never posted a status has the age of its creation, and the startup rule applies', async () => {
  await using world = new ControllerWorld();
  world.nodes.set('fresh', aNodeView({ name: 'fresh', createdAtMs: world.clock.nowMs() }));
  await world.running(10);
  const outlook = explainNode(world, 'fresh');
  const seen = [outlook.ready, outlook.lastHeartbeat?.channel, outlook.grace?.rule, outlook.silence?.from?.inSeconds];
  assert.deepEqual(seen, ['missing', 'creation', 'startup', 50.001]);
});

test('a node that is not silent yet has the predicted time of its taint, and gets it then', async () => {
  await using world = await aZonedWorld({ a: 10, b: 3 }).running(20);
  await world.silentFor(3, 'a-4');
  const outlook = explainNode(world, 'a-4');
  assert.equal(outlook.noExecuteTaint?.key, taintKeys.unreachable);
  assert.equal(outlook.queue, null);
  await comesTrue(world, secondsOf(outlook.noExecuteTaint.when), 0.15, () => isTainted(world, 'a-4'));
});

test('in a large disrupted zone the arithmetic is shown, and the prediction at the secondary rate comes true', async () => {
  await using world = aZonedWorld({ a: 60, b: 3 }).start();
  await world.silentFor(55, ...names(36, 'a-'));
  const waiting = explainNode(world, 'a-9');
  assert.equal(
    waiting.zone.arithmetic?.reading,
    '36/60 not ready = 0.60 >= 0.55 -> partially-disrupted, zone size 60 > 50 -> rate 0.01',
  );
  assert.equal(waiting.zone.arithmetic.rule, 'large-zone-disrupted');
  assert.ok(waiting.queue && waiting.queue.ahead > 0);
  assert.equal(waiting.next.act, 'add-taint');
  assert.equal(waiting.next.subject, `${taintKeys.unreachable}:NoExecute`);
  assert.deepEqual(waiting.holds, []);
  // Two slots from now, a hundred seconds apart.
  const second = explainNode(world, waiting.zone.queue.first[1] ?? '');
  assert.equal(second.queue?.ahead, 1);
  const seconds = secondsOf(second.noExecuteTaint?.when ?? assert.fail('a time'));
  assert.ok(seconds > 100 && seconds < 200, `${seconds} s`);
  await comesTrue(world, seconds, 0.25, () => isTainted(world, second.node));
  assert.equal(explainNode(world, second.node).noExecuteTaint, null);
});

test('in a small disrupted zone no time is predicted, but what would end the hold', async () => {
  await using world = aZonedWorld({ a: 5, b: 3 }).start();
  await world.silentFor(60, 'a-0', 'a-1', 'a-2');
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
  world.recover('a-2');
  await world.advance(0.01);
  const freed = explainNode(world, 'a-1');
  assert.deepEqual(freed.holds, []);
  await comesTrue(world, secondsOf(freed.noExecuteTaint?.when ?? assert.fail('a time')), 0.15, () =>
    isTainted(world, 'a-1'),
  );
});

test('a silence would stop the zone: no time is predicted for a node that still renews', async () => {
  await using world = aZonedWorld({ a: 5, b: 3 }).start();
  await world.silentFor(80, 'a-0', 'a-1');
  world.goSilent('a-2');
  assert.equal(explainNode(world, 'a-2').noExecuteTaint?.when.at, null);
  await world.advance(120);
  assert.equal(isTainted(world, 'a-2'), false);
});

test('in a full disruption nothing is predicted, and one ready node anywhere would change that', async () => {
  await using world = aZonedWorld({ a: 3, b: 3 }, { controlPlanePathFailureHoldMs: 0 }).start();
  await world.silentFor(60, ...names(3, 'a-'), ...names(3, 'b-'));
  const outlook = explainNode(world, 'b-1');
  assert.deepEqual(outlook.holds, [
    { kind: 'full-disruption', unblockedBy: [{ kind: 'nodes-ready', zone: null, count: 1 }] },
  ]);
  assert.equal(outlook.noExecuteTaint, null);
  assert.match(
    outlook.zone.arithmetic?.reading ?? '',
    /^3\/3 not ready = 1.00, none ready -> fully-disrupted, no zone/,
  );
});

test('a ControlPlanePathFailure is a hold with its arithmetic and its end, and the taint is added after it', async () => {
  await using world = aZonedWorld({ a: 4, b: 4, c: 1 }, { controlPlanePathFailureHoldMs: 60_000 }).start();
  await world.silentFor(80, ...names(4, 'a-'), ...names(4, 'b-'));
  const { holds, noExecuteTaint, queue } = explainNode(world, 'b-2');
  const hold = holds.find(({ kind }) => kind === 'outage');
  assert.ok(hold?.kind === 'outage');
  assert.deepEqual([hold.why.together, hold.why.of, hold.why.zonesStruck, hold.why.zones], [8, 9, 2, 3]);
  const [time, nodes] = hold.unblockedBy;
  assert.ok(time?.kind === 'time' && nodes?.kind === 'nodes-ready');
  assert.equal(Math.round(secondsOf(time.when)), 30);
  assert.equal(nodes.count, 3, '5 of 9 are less than 60 %');
  assert.match(describeHold(hold), /^ControlPlanePathFailure: 8 of 9 nodes in 2 of 3 zones became silent together/);
  assert.ok(noExecuteTaint && queue);
  const inSeconds = secondsOf(noExecuteTaint.when);
  assert.equal(Math.round(inSeconds), 30 + 10 * queue.ahead);
  await comesTrue(world, inSeconds, 0.1 * (queue.ahead + 1), () => isTainted(world, 'b-2'));
});

test('a pod has its eviction: predicted before the taint, scheduled after it, and it happens then', async () => {
  await using world = aZonedWorld({ a: 10, b: 3 });
  world.addPod('web', 'a-4', [{ key: taintKeys.unreachable, operator: 'Exists', tolerationSeconds: 300 }]);
  world.addPod('agent', 'a-4', [{ operator: 'Exists' }]);
  await world.start().silentFor(20, 'a-4');
  const before = explainPod(world, 'web');
  assert.deepEqual(
    [before.eviction?.state, before.eviction?.cause, before.eviction?.given],
    ['predicted', { kind: 'taint', taint: taintKeys.unreachable, toleratedSeconds: 300 }, 'no-heartbeat'],
  );
  const predictedSeconds = world.seconds() + secondsOf(before.eviction?.when ?? assert.fail('a time'));
  await world.advance(100);
  const scheduled = explainPod(world, 'web');
  assert.deepEqual([scheduled.eviction?.state, scheduled.next.act], ['scheduled', 'evict-pod']);
  const [patience] = scheduled.taints;
  const seen = [patience?.taint.key, patience?.toleratedSeconds, patience?.toleration?.tolerationSeconds];
  assert.deepEqual(seen, [taintKeys.unreachable, 300, 300]);
  assert.ok(scheduled.history.some(({ decision }) => decision.kind === 'eviction-scheduled'));
  const scheduledSeconds = secondsOf(scheduled.eviction?.when ?? assert.fail('a time'));
  assert.ok(Math.abs(world.seconds() + scheduledSeconds - predictedSeconds) < 0.2);
  const node = explainNode(world, 'a-4');
  assert.deepEqual([node.evictions.scheduled, node.next.act, node.next.subject], [1, 'evict-pod', 'default/web']);
  assert.equal(explainPod(world, 'agent').eviction, null);
  assert.equal(explainPod(world, 'agent').taints[0]?.ends, null);
  await comesTrue(world, scheduledSeconds, 0.1, () => world.evicted().includes('web'));
  assert.equal(world.evicted().includes('agent'), false);
});

test('a pod that will not be evicted has the reason', async () => {
  await using world = aZonedWorld({ a: 10, b: 3 });
  const forever = [{ key: taintKeys.unreachable, operator: 'Exists' }];
  world.addPod('unbound', '');
  world.addPod('lost', 'nowhere');
  world.addPod('agent', 'a-4', forever);
  world.addPod('leaving', 'a-4', [], { deletionTimestamp: '2026-01-02T03:04:05Z' });
  const why = (pod: string): string | undefined => explainPod(world, pod).stays?.why;
  await world.running(20);
  world.goSilent('a-4');
  assert.deepEqual(['unbound', 'lost', 'agent', 'leaving'].map(why), [
    'not-bound',
    'node-unknown',
    'tolerates-forever',
    'already-terminating',
  ]);
  await world.advance(100);
  assert.equal(isTainted(world, 'a-4'), true);
  assert.equal(why('agent'), 'tolerates-forever');
  assert.deepEqual(world.evicted(), []);
});

test('a node whose taints are to be removed shows that they are removed now', async () => {
  await using world = aZonedWorld({ a: 3 });
  world.addNode('a-x', { zone: 'a', taints: [{ key: taintKeys.unreachable, effect: 'NoExecute' }] });
  const { next, taints } = explainNode(world, 'a-x');
  const expected = ['change-taints', `-${taintKeys.unreachable}:NoExecute`, 0];
  assert.deepEqual([next.act, next.subject, next.when?.inSeconds], expected);
  assert.deepEqual(taints.wanted, []);
  await world.running(1);
  assert.deepEqual(world.taints('a-x'), []);
});

test('a standby shows that it is one and who leads, and predicts no action of its own', async () => {
  const world = aZonedWorld({ a: 3 });
  world.leading = false;
  await world.advance(5);
  const { holds, next, silence, noExecuteTaint } = explainNode(world, 'a-0');
  assert.deepEqual(holds, [{ kind: 'not-leader', unblockedBy: [{ kind: 'ask-leader', holder: 'other-replica' }] }]);
  assert.deepEqual([next.act, noExecuteTaint?.when.at], ['none', null]);
  assert.ok(silence?.from?.at, 'heartbeats are observed, leader or not');
});

test('while watches are stale no node has a predicted silence, and the reason is shown', async () => {
  await using world = await aZonedWorld({ a: 3 }).running(20);
  world.loseContact();
  await world.silentFor(30, 'a-0');
  const { holds, silence, next } = explainNode(world, 'a-0');
  assert.deepEqual(holds, [{ kind: 'stale', reason: 'no-contact', unblockedBy: [{ kind: 'contact-with-api' }] }]);
  assert.deepEqual([silence?.silent, silence?.from?.at, next.when?.at], [false, null, null]);
});

test('after a full disruption the grace period counts from its end, without a heartbeat', async () => {
  await using world = aZonedWorld({ a: 2, b: 2 }).start();
  await world.silentFor(70, 'a-0', 'a-1', 'b-0', 'b-1');
  world.recover('a-0');
  await world.advance(1);
  const silent = explainNode(world, 'b-1');
  assert.deepEqual([silent.lastHeartbeat?.channel, silent.lastHeartbeat?.secondsAgo], ['full-disruption-end', 1]);
});

test('a silent node whose lease cannot be read is held, not predicted', async () => {
  await using world = aZonedWorld({ a: 3 }).start();
  await world.silentFor(40, 'a-0');
  world.answering = false;
  await world.advance(20);
  const { ready, silence, holds, next, noExecuteTaint } = explainNode(world, 'a-0');
  assert.deepEqual([ready, silence?.silent], ['True', true]);
  assert.deepEqual(holds, [{ kind: 'unconfirmed', unblockedBy: [{ kind: 'contact-with-api' }] }]);
  assert.deepEqual([next.act, next.when?.at, noExecuteTaint?.when.at], ['mark-unknown', null, null]);
  world.answering = true;
  await world.advance(10);
  assert.deepEqual([world.ready('a-0'), explainNode(world, 'a-0').holds], ['Unknown', []]);
});

test('a pod of a StatefulSet that came back under its name: the history of the former pod is shown apart', async () => {
  await using world = aZonedWorld({ a: 3 }).start();
  const tolerating = { key: taintKeys.unreachable, operator: 'Exists', effect: 'NoExecute', tolerationSeconds: 5 };
  world.addPod('db-0', 'a-0', [tolerating]);
  await world.silentFor(70, 'a-0');
  world.removePod('db-0');
  world.addPod('db-0', 'a-1');
  await world.advance(5);
  const { history, historyOfFormer } = explainPod(world, 'db-0');
  const kinds = historyOfFormer.map(({ decision }) => decision.kind);
  assert.deepEqual(history, []);
  assert.ok(kinds.includes('eviction-scheduled') && kinds.includes('pod-evicted'), kinds.join());
});
