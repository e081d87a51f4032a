import assert from 'node:assert/strict';
import { test } from 'node:test';
import { taintKeys } from '../../../src/machinery/api/taints.ts';
import { describeNodeOutlook, describePodOutlook } from '../../../src/controller/report/text/describe-outlooks.ts';
import { describeStatus } from '../../../src/controller/report/text/describe-status.ts';
import { ControllerWorld } from '../../support/controller-world.ts';
import { explainNode, explainPod, statusOf } from '../../support/explained.ts';

async function aStoppedZone(): Promise<ControllerWorld> {
  const world = new ControllerWorld();
  for (const name of ['a-0', 'a-1', 'a-2', 'a-3', 'a-4']) world.addNode(name, { zone: 'a' });
  world.addNode('b-0', { zone: 'b' });
  world.addPod('web', 'a-1', [{ key: taintKeys.unreachable, operator: 'Exists', tolerationSeconds: 300 }]);
  world.renewing('a-3', 'a-4', 'b-0');
  await world.running(60);
  return world;
}

test('a node in a stopped queue: the page has what, why, how long and what would end it', async () => {
  await using world = await aStoppedZone();
  const page = describeNodeOutlook(explainNode(world, 'a-1'));
  for (const line of [
    /^node a-1: Ready is Unknown; silent for 10s, since 2026-01-02T03:04:55\.001000Z$/m,
    /^ {2}next +it gets node\.kubernetes\.io\/unreachable:NoExecute: not in the current state, if nothing changes$/m,
    /^ {2}held +the eviction rate of zone r\/a is 0 \(small-zone-disrupted\); would end: 1 of the unready nodes of zone r\/a ready again$/m,
    /^ {2}heartbeat +60s ago by status \(2026-01-02T03:04:05\.000000Z\); grace 50s \(monitor rule, --node-monitor-grace-period\)$/m,
    /^ {2}zone +r\/a: 3\/5 not ready = 0\.60 >= 0\.55 -> partially-disrupted, zone size 5 <= 50 -> rate 0$/m,
    /^ {2}queue +1 ahead, 3 waiting; 0 tokens left, next token: not in the current state$/m,
    /^ {2}evictions +0 scheduled, 1 predicted$/m,
    /^ {4}default\/web tolerates node\.kubernetes\.io\/unreachable for 300s; eviction predicted: not in the current state/m,
    /^ {4}2026-.*node a-1 is silent/m,
  ]) {
    assert.match(page, line);
  }
});

test('a healthy node: the page has what a silence would cause', async () => {
  await using world = await aStoppedZone();
  const page = describeNodeOutlook(explainNode(world, 'b-0'));
  for (const line of [
    /^node b-0: Ready is True; not silent; would be without a heartbeat: in about 50s \(2026-/m,
    /^ {2}next +its conditions become Unknown: in about 50s \(.*\), if no heartbeat is received$/m,
    /^ {2}holds +none$/m,
    /^ {2}NoExecute +node\.kubernetes\.io\/unreachable: in about 50s \(.*\), if no heartbeat is received$/m,
  ]) {
    assert.match(page, line);
  }
});

test('a pod and the status have pages', async () => {
  await using world = await aStoppedZone();
  const pod = describePodOutlook(explainPod(world, 'web'));
  assert.match(pod, /^pod default\/web: Running, on node a-1$/m);
  assert.match(pod, /^ {2}held +the eviction rate of zone r\/a is 0/m);
  const status = describeStatus(statusOf(world));
  for (const line of [
    /^leading; leader: this-replica /m,
    /^ {2}queues +3 nodes wait for a NoExecute taint$/m,
    /^ {2}informer +nodes: watching, in sync, 6 objects, last frame /m,
    /^zone r\/a: 3\/5 not ready/m,
    /^zone r\/b: 0\/1 not ready = 0\.00 < 0\.55 -> normal -> rate 0\.1$/m,
  ]) {
    assert.match(status, line);
  }
});

test('eviction mode: the pages of a node, its pods and the status have the next node and the kept pods', async () => {
  await using world = new ControllerWorld({ taintBasedEvictions: false, podEvictionTimeoutMs: 120_000 });
  for (const name of ['a-0', 'a-1', 'a-2', 'a-3']) world.addNode(name, { zone: 'a' });
  world.addPod('web', 'a-0');
  world.renewing('a-1', 'a-2', 'a-3');
  await world.running(60);
  const waiting = describeNodeOutlook(explainNode(world, 'a-0'));
  for (const line of [
    /^ {2}next +its pods are deleted: in about 60s \(2026-.*\), if no heartbeat is received$/m,
    /^ {2}eviction +unmarked: timeout ends: in about 60s \(2026-.*\); pods deleted: in about 60s \(2026-.*\), if no/m,
    /^ {2}evictions +0 scheduled, 1 predicted, 0 of DaemonSets kept$/m,
    /^ {4}default\/web is deleted with all pods of its node; eviction predicted: in about 60s /m,
  ]) {
    assert.match(waiting, line);
  }
  assert.doesNotMatch(waiting, /NoExecute/);
  assert.match(
    describePodOutlook(explainPod(world, 'web')),
    /^ {2}eviction +default\/web is deleted with all pods .*: in about 60s \(2026-.*\), if no heartbeat is received$/m,
  );
  await world.advance(65);
  assert.match(
    describeNodeOutlook(explainNode(world, 'a-0')),
    /^ {2}eviction +evicted: its pods are deleted, and so is every pod bound to it later, until it is Ready$/m,
  );
  const status = describeStatus(statusOf(world));
  for (const line of [
    /^ {2}runs +node-lifecycle-controller; eviction mode$/m,
    /^ {2}queues +0 nodes wait for the deletion of their pods$/m,
    /^ {2}evictions +1 nodes are evicted; the timeout of 0 more has not ended$/m,
  ]) {
    assert.match(status, line);
  }
});
