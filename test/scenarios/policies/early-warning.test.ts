// Early warnings: a node that sends no heartbeats is reported before it is Unknown. A warning holds and decides nothing.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { overdueAnnotation } from '../../../src/machinery/api/node.ts';
import { describeNodeOutlook } from '../../../src/controller/report/text/describe-outlooks.ts';
import { describeStatus } from '../../../src/controller/report/text/describe-status.ts';
import type { NodePolicy } from '../../../src/controller/model/policy.ts';
import { aPolicy } from '../../support/builders.ts';
import type { ControllerWorld, Write } from '../../support/controller-world.ts';
import { explainNode, statusOf } from '../../support/explained.ts';
import { aZonedWorld, names } from '../../support/zoned-world.ts';

const after = (afterMs: number, annotate = true): NodePolicy =>
  aPolicy({ name: 'db', earlyWarning: { afterMs, annotate } });
const warning = after(25_000);

function aWorld(policies: readonly NodePolicy[] = [warning], nodes = 4): ControllerWorld {
  const world = aZonedWorld({ a: nodes, b: nodes }, { policies });
  world.addPod('pod', 'a-0');
  return world;
}

const annotationOf = (world: ControllerWorld, node: string): string | undefined =>
  world.node(node).metadata.annotations?.[overdueAnnotation];
const warned = (world: ControllerWorld): readonly string[] => world.decided('node-overdue').map(({ node }) => node);
const ends = (world: ControllerWorld): readonly string[] =>
  world.decided('node-overdue-ended').map(({ node, why }) => `${node} ${why}`);
const metric = (world: ControllerWorld, name: string): number | undefined => world.meter.read().get(name);
const isAnnotation = ({ body }: Write): boolean => JSON.stringify(body ?? {}).includes(overdueAnnotation);

test('a node is reported by Event, metric, pages and annotation after the time of its policy, and is Unknown when it was before', async () => {
  await using world = aWorld();
  await world.running(20);
  await world.silentFor(24, 'a-0');
  assert.deepEqual(warned(world), []);
  await world.advance(2.5);
  assert.deepEqual(warned(world), ['a-0']);
  const [decision] = world.decided('node-overdue');
  assert.ok(decision !== undefined && decision.silentMs >= 25_000 && decision.silentMs <= 26_500);
  assert.ok(Math.abs(decision.silentMs + decision.leftMs - world.options.nodeMonitorGracePeriodMs) < 1);
  assert.match(world.nodeEventsOf('NodeHeartbeatOverdue').join(), /^Node a-0 has sent no heartbeat for 2[56] s/u);
  assert.equal(metric(world, 'node_lifecycle_overdue_nodes{policy="db"}'), 1);
  assert.match(
    describeNodeOutlook(explainNode(world, 'a-0')),
    /warning\s+no heartbeat for 2[5-7]s, and not Unknown yet/u,
  );
  assert.match(describeStatus(statusOf(world)), /db: mode Enforce, .*heartbeats of 1 nodes are overdue/u);
  assert.match(annotationOf(world, 'a-0') ?? '', /^\d{4}-\d\d-\d\dT/u);
  assert.equal(world.ready('a-0'), 'True');
  await world.silentFor(30, 'a-0');
  assert.equal(world.ready('a-0'), 'Unknown');
  assert.deepEqual(ends(world), ['a-0 unknown']);
  assert.notEqual(annotationOf(world, 'a-0'), undefined, 'it stays while the node is Unknown');
  assert.equal(metric(world, 'node_lifecycle_overdue_total{policy="db",end="unknown"}'), 1);
});

test('a heartbeat ends it: the annotation is removed, and the warning counts as wrong', async () => {
  await using world = aWorld();
  await world.running(20);
  await world.silentFor(35, 'a-0');
  assert.deepEqual(warned(world), ['a-0']);
  world.recover('a-0');
  await world.advance(3);
  assert.deepEqual(ends(world), ['a-0 heartbeat']);
  assert.equal(annotationOf(world, 'a-0'), undefined);
  assert.equal(metric(world, 'node_lifecycle_overdue_total{policy="db",end="heartbeat"}'), 1);
  assert.equal(metric(world, 'node_lifecycle_overdue_nodes{policy="db"}'), 0);
  await world.advance(300);
  assert.equal(world.writes.filter(isAnnotation).length, 2, 'one write for each change');
});

test('the annotation of a node that was Unknown is removed when it is Ready again', async () => {
  await using world = aWorld();
  await world.running(20);
  await world.silentFor(100, 'a-0');
  assert.equal(world.ready('a-0'), 'Unknown');
  world.recover('a-0');
  await world.advance(10);
  assert.equal(annotationOf(world, 'a-0'), undefined);
});

test('a warning does not move a deadline: with and without it the same is written at the same times', async () => {
  const writesOf = async (policy: NodePolicy): Promise<readonly string[]> => {
    await using world = aWorld([policy]);
    await world.running(20);
    await world.silentFor(120, 'a-0');
    const others = world.writes.filter((write) => !isAnnotation(write));
    return others.map(({ verb, name, atSeconds }) => `${verb} ${name} ${atSeconds.toFixed(1)}`);
  };
  const [without, withWarning] = [await writesOf(aPolicy({ name: 'db' })), await writesOf(warning)];
  assert.ok(without.length > 0);
  assert.deepEqual(withWarning, without);
});

test('a healthy node is never overdue, however short the time of the policy', async () => {
  await using world = aWorld([after(1_000)]);
  await world.running(300);
  assert.deepEqual(warned(world), []);
});

test('a node in planned maintenance is not reported', async () => {
  const maintained = aPolicy({
    name: 'db',
    earlyWarning: { afterMs: 25_000, annotate: true },
    maintenance: { conditions: ['Maintained'], taints: [], holdsWhileSilent: ['Maintained'], maxDurationMs: 600_000 },
  });
  await using world = aWorld([maintained]);
  await world.running(20);
  world.setCondition('a-0', 'Maintained', 'True');
  await world.silentFor(45, 'a-0', 'a-1');
  assert.deepEqual(warned(world), ['a-1']);
});

test('nothing is written by mode Observe, nor without annotate', async () => {
  for (const policy of [{ ...warning, mode: 'Observe' as const }, after(25_000, false)]) {
    await using world = aWorld([policy]);
    await world.running(20);
    await world.silentFor(40, 'a-0');
    assert.deepEqual(warned(world), ['a-0']);
    assert.equal(world.writes.some(isAnnotation), false);
  }
});

test('the loss of a zone is counted whole, reported by 20 Events at once, and written to 50 nodes', async () => {
  await using world = aWorld([warning], 80);
  await world.running(20);
  await world.silentFor(28, ...names(80, 'a-'));
  assert.equal(metric(world, 'node_lifecycle_overdue_nodes{policy="db"}'), 80);
  assert.equal(world.nodeEventsOf('NodeHeartbeatOverdue').length <= 21, true);
  assert.equal(world.writes.filter(isAnnotation).length, 50);
});

test('a policy that changes while nodes are silent warns of them, and one that is removed takes its warnings along', async () => {
  await using world = aWorld([aPolicy({ name: 'db' })]);
  await world.running(20);
  await world.silentFor(30, 'a-0');
  world.changeOptions({ policies: [warning] });
  await world.advance(6);
  assert.deepEqual(warned(world), ['a-0']);
  world.changeOptions({ policies: [] });
  await world.advance(6);
  assert.deepEqual(ends(world), ['a-0 policy']);
  assert.equal(annotationOf(world, 'a-0'), undefined);
  assert.equal(metric(world, 'node_lifecycle_overdue_nodes{policy="db"}'), undefined);
});

test('an annotation that is removed by another client is written again within a minute, and a foreign one is removed', async () => {
  await using world = aWorld([after(25_000), aPolicy({ name: 'none', priority: -1 })]);
  await world.running(20);
  world.annotate('b-0', overdueAnnotation, 'of another client');
  await world.silentFor(30, 'a-0');
  assert.notEqual(annotationOf(world, 'a-0'), undefined);
  world.changeOptions({ nodeMonitorGracePeriodMs: 300_000 });
  world.annotate('a-0', overdueAnnotation, undefined);
  await world.advance(70);
  assert.notEqual(annotationOf(world, 'a-0'), undefined);
  assert.equal(annotationOf(world, 'b-0'), undefined);
});
