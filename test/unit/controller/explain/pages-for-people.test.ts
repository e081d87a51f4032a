import assert from 'node:assert/strict';
import { test } from 'node:test';
import { taintKeys } from '../../../../src/api/taints.ts';
import { describeNodeOutlook } from '../../../../src/controller/explain/describe-node-outlook.ts';
import { describePodOutlook } from '../../../../src/controller/explain/describe-pod-outlook.ts';
import { describeStatus } from '../../../../src/controller/explain/describe-status.ts';
import { ControllerWorld } from '../../../support/controller-world.ts';
import { explainNode, explainPod, statusOf } from './explained.ts';

async function aStoppedZone(): Promise<ControllerWorld> {
  const world = new ControllerWorld();
  for (const name of ['a-0', 'a-1', 'a-2', 'a-3', 'a-4']) world.addNode(name, { zone: 'a' });
  world.addNode('b-0', { zone: 'b' });
  world.addPod('web', 'a-1', [{ key: taintKeys.unreachable, operator: 'Exists', tolerationSeconds: 300 }]);
  world.renewing('a-3', 'a-4', 'b-0');
  world.start();
  await world.advance(60);
  return world;
}

test('a node that waits in a stopped line: the page says what, why, how long and what would help', async () => {
  const world = await aStoppedZone();
  const page = describeNodeOutlook(explainNode(world, 'a-1'));
  for (const line of [
    /^node a-1: Ready is Unknown; silent for 10 s, since 2026-01-02T03:04:55\.001000Z$/m,
    /^ {2}next +it gets node\.kubernetes\.io\/unreachable:NoExecute: not while things are as they are, if nothing changes$/m,
    /^ {2}held +the line of zone r\/a is stopped \(small-zone-disrupted\); would end: 1 of the unready nodes of zone r\/a ready again$/m,
    /^ {2}heard +60 s ago by status \(2026-01-02T03:04:05\.000000Z\); grace 50 s \(monitor rule, --node-monitor-grace-period\)$/m,
    /^ {2}zone +r\/a: 3\/5 not ready = 0\.60 >= 0\.55 -> partially-disrupted, zone size 5 <= 50 -> rate 0$/m,
    /^ {2}line +1 ahead, 3 waiting; 0 tokens left, next token: not while things are as they are$/m,
    /^ {2}evictions +0 scheduled, 1 predicted$/m,
    /^ {4}default\/web tolerates node\.kubernetes\.io\/unreachable for 300 s; eviction predicted: not while/m,
    /^ {4}2026-.*node a-1 is silent/m,
  ]) {
    assert.match(page, line);
  }
  await world.stop();
});

test('a healthy node: the page says what silence would bring, and that it takes silence', async () => {
  const world = await aStoppedZone();
  const page = describeNodeOutlook(explainNode(world, 'b-0'));
  for (const line of [
    /^node b-0: Ready is True; not silent; would be, unless heard: in about 50 s \(2026-/m,
    /^ {2}next +its conditions become Unknown: in about 50 s \(.*\), if nothing is heard of it$/m,
    /^ {2}holds +none$/m,
    /^ {2}NoExecute +node\.kubernetes\.io\/unreachable: in about 50 s \(.*\), if nothing is heard of it$/m,
  ]) {
    assert.match(page, line);
  }
  await world.stop();
});

test('a pod and the status have their pages', async () => {
  const world = await aStoppedZone();
  const pod = describePodOutlook(explainPod(world, 'web'));
  assert.match(pod, /^pod default\/web: Running, on node a-1$/m);
  assert.match(pod, /^ {2}held +the line of zone r\/a is stopped/m);
  const status = describeStatus(statusOf(world));
  for (const line of [
    /^leading; leader: us /m,
    /^ {2}lines +3 nodes wait for a NoExecute taint$/m,
    /^ {2}informer +nodes: watching, in sync, 6 objects, heard /m,
    /^zone r\/a: 3\/5 not ready/m,
    /^zone r\/b: 0\/1 not ready = 0\.00 < 0\.55 -> normal -> rate 0\.1$/m,
  ]) {
    assert.match(status, line);
  }
  await world.stop();
});

test('eviction mode: a node, its pods and the status say whose turn it is, and who is spared', async () => {
  const world = new ControllerWorld({ taintBasedEvictions: false, podEvictionTimeoutMs: 120_000 });
  for (const name of ['a-0', 'a-1', 'a-2', 'a-3']) world.addNode(name, { zone: 'a' });
  world.addPod('web', 'a-0');
  world.renewing('a-1', 'a-2', 'a-3');
  world.start();
  await world.advance(60);
  const waiting = describeNodeOutlook(explainNode(world, 'a-0'));
  for (const line of [
    /^ {2}next +its pods are deleted: in about 60 s \(2026-.*\), if nothing is heard of it$/m,
    /^ {2}eviction +unmarked: its time is up: in about 60 s \(2026-.*\); its turn: in about 60 s \(2026-.*\), if nothing/m,
    /^ {2}evictions +0 scheduled, 1 predicted, 0 of DaemonSets spared$/m,
    /^ {4}default\/web leaves with all pods of its node; eviction predicted: in about 60 s /m,
  ]) {
    assert.match(waiting, line);
  }
  assert.doesNotMatch(waiting, /NoExecute/);
  assert.match(
    describePodOutlook(explainPod(world, 'web')),
    /^ {2}eviction +default\/web leaves with all pods .*: in about 60 s \(2026-.*\), if nothing is heard of it$/m,
  );
  await world.advance(65);
  assert.match(
    describeNodeOutlook(explainNode(world, 'a-0')),
    /^ {2}eviction +evicted: its pods leave, and so does every pod that lands on it, until it is Ready$/m,
  );
  const status = describeStatus(statusOf(world));
  for (const line of [
    /^ {2}runs +node-lifecycle-controller; eviction mode$/m,
    /^ {2}lines +0 nodes wait for their turn to lose their pods$/m,
    /^ {2}evictions +1 nodes are evicted; the time of 0 more is not up yet$/m,
  ]) {
    assert.match(status, line);
  }
  await world.stop();
});
