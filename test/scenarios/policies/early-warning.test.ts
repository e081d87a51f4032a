// Early warnings: a node that sends no heartbeats is reported before it is Unknown. A warning holds and decides nothing.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { overdueAnnotation } from '../../../src/machinery/api/node.ts';
import { describeNodeOutlook } from '../../../src/controller/report/text/describe-outlooks.ts';
import { describeStatus } from '../../../src/controller/report/text/describe-status.ts';
import type { NodePolicy } from '../../../src/controller/model/policy.ts';
import { aPolicy, inZone } from '../../support/builders.ts';
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
  assert.deepEqual(ends(world), ['a-0 silent']);
  assert.notEqual(annotationOf(world, 'a-0'), undefined, 'it stays while the node is Unknown');
  assert.equal(metric(world, 'node_lifecycle_overdue_total{policy="db",end="silent"}'), 1);
});

test('its counters are exposed at 0 while a policy warns, and forgotten with it', async () => {
  await using world = aWorld([warning, aPolicy({ name: 'other', selector: inZone('b') })]);
  await world.running(20);
  const ended = (): readonly string[] =>
    [...world.meter.read()].flatMap(([series, value]) =>
      series.startsWith('node_lifecycle_overdue_total') ? `${series} ${value}` : [],
    );
  const zeros = ['heartbeat', 'silent', 'withdrawn', 'gone'].map(
    (end) => `node_lifecycle_overdue_total{policy="db",end="${end}"} 0`,
  );
  assert.deepEqual(ended(), zeros);
  await world.silentFor(30, 'a-0');
  assert.deepEqual(warned(world), ['a-0']);
  world.changeOptions({ policies: [aPolicy({ name: 'db' })] });
  assert.deepEqual(ended(), []);
  await world.advance(10);
  assert.deepEqual(ends(world), ['a-0 withdrawn']);
  assert.deepEqual(ended(), [], 'what ends later is of no policy that warns');
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

test('the loss of a zone is counted whole, reported by 20 Events at once, and written to 50 nodes at once', async () => {
  await using world = aWorld([warning], 80);
  await world.running(20);
  await world.silentFor(28, ...names(80, 'a-'));
  assert.equal(metric(world, 'node_lifecycle_overdue_nodes{policy="db"}'), 80);
  assert.equal(world.nodeEventsOf('NodeHeartbeatOverdue').length <= 21, true);
  const annotated = world.writes.filter(isAnnotation).length;
  assert.ok(annotated >= 50 && annotated <= 56, `${annotated}: 50, and one a second`);
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
  assert.deepEqual(ends(world), ['a-0 withdrawn']);
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

const ofZone = (name: string, zone: string, rest: Partial<NodePolicy> = {}): NodePolicy => ({
  ...warning,
  name,
  selector: inZone(zone),
  ...rest,
});
/** A grace period that no test here waits for. */
const longGrace = { nodeMonitorGracePeriodMs: 300_000 };

test('a node that is created again under its name gets no annotation of the one before', async () => {
  await using world = aZonedWorld({ a: 4, b: 4 }, { policies: [warning], ...longGrace });
  await world.running(20);
  await world.silentFor(30.3, 'a-0');
  world.removeNode('a-0');
  world.addNodes(['a-0'], { zone: 'a' });
  await world.advance(5);
  assert.equal(world.writes.filter(isAnnotation).length, 1);
  assert.deepEqual(ends(world), ['a-0 gone']);
});

test('the annotation has the time of the last heartbeat, after a restart and after a time without contact too', async () => {
  await using world = aZonedWorld({ a: 4, b: 4 }, { policies: [warning], ...longGrace });
  await world.running(20);
  await world.silentFor(35, 'a-0');
  const before = annotationOf(world, 'a-0');
  await world.restart();
  for (let left = 60; left > 0; left -= 5) {
    await world.advance(5);
    assert.equal(annotationOf(world, 'a-0'), before);
  }
  assert.equal(world.writes.filter(isAnnotation).length, 1);
  world.loseContact();
  await world.advance(60);
  world.restoreContact();
  await world.silentFor(40, 'a-0', 'a-1');
  const [seconds, last] = [
    annotationOf(world, 'a-1') ?? '',
    world.leases.get('kube-node-lease/a-1')?.renewTime ?? 'none',
  ];
  assert.equal(seconds.slice(0, 19), last.slice(0, 19));
});

test('a heartbeat of a kubelet whose clock was set back ends the warning too', async () => {
  await using world = aZonedWorld({ a: 4, b: 4 }, { policies: [warning], ...longGrace });
  await world.running(20);
  await world.silentFor(35, 'a-0');
  assert.notEqual(annotationOf(world, 'a-0'), undefined);
  world.post('a-0', 'True');
  await world.silentFor(35, 'a-0');
  assert.notEqual(annotationOf(world, 'a-0'), undefined, 'the last heartbeat was a status');
  world.kubeletClocksMs.set('a-0', -3_600_000);
  world.renewing('a-0');
  await world.running(13);
  assert.deepEqual(ends(world), ['a-0 heartbeat', 'a-0 heartbeat']);
  assert.equal(annotationOf(world, 'a-0'), undefined);
});

test('warnings end with the grace period where nothing is written for a node, and leave the annotations to others', async () => {
  await using world = aZonedWorld(
    { a: 60, b: 60 },
    { policies: [ofZone('seen', 'a', { mode: 'Observe' }), ofZone('db', 'b')] },
  );
  await world.running(20);
  await world.silentFor(90, ...names(50, 'a-'));
  assert.equal(metric(world, 'node_lifecycle_overdue_nodes{policy="seen"}'), 0);
  assert.equal(metric(world, 'node_lifecycle_overdue_total{policy="seen",end="silent"}'), 50);
  await world.silentFor(35, 'b-0');
  assert.notEqual(annotationOf(world, 'b-0'), undefined);
});

test('a node that is new, or comes under the policy by a label, is warned of in time', async () => {
  await using world = aWorld([ofZone('db', 'a')]);
  await world.running(33);
  world.addNode('a-9', { zone: 'a' });
  world.renewOnce('a-9');
  await world.advance(28);
  assert.deepEqual(warned(world), ['a-9']);
  await world.running(10);
  world.setLabels('b-0', { 'topology.kubernetes.io/zone': 'a', 'topology.kubernetes.io/region': 'r' });
  await world.silentFor(28, 'b-0');
  assert.deepEqual(warned(world), ['a-9', 'b-0']);
});

test('a silent node whose maintenance ends is warned of within five seconds', async () => {
  const maintenance = {
    conditions: ['Maintained'],
    taints: [],
    holdsWhileSilent: ['Maintained'],
    maxDurationMs: 600_000,
  };
  await using world = aZonedWorld({ a: 4, b: 4 }, { policies: [{ ...warning, maintenance }], ...longGrace });
  await world.running(20);
  world.setCondition('a-0', 'Maintained', 'True');
  await world.silentFor(40, 'a-0');
  assert.deepEqual(warned(world), []);
  world.setCondition('a-0', 'Maintained', 'False');
  await world.advance(6);
  assert.deepEqual(warned(world), ['a-0']);
});

test('a rule that changes while a node is overdue is no heartbeat, and what it says holds at once', async () => {
  await using world = aZonedWorld({ a: 4, b: 4 }, { policies: [after(25_000, false)], ...longGrace });
  await world.running(20);
  await world.silentFor(30, 'a-0');
  world.changeOptions({ policies: [warning] });
  await world.advance(3);
  assert.notEqual(annotationOf(world, 'a-0'), undefined, 'annotate is true now');
  world.changeOptions({ policies: [{ ...warning, name: 'renamed' }] });
  await world.advance(3);
  assert.equal(metric(world, 'node_lifecycle_overdue_nodes{policy="renamed"}'), 1);
  world.changeOptions({ policies: [{ ...after(200_000), name: 'renamed' }] });
  await world.advance(3);
  assert.deepEqual(ends(world), ['a-0 withdrawn']);
  world.changeOptions({ policies: [after(25_000, false)] });
  await world.advance(70);
  assert.equal(annotationOf(world, 'a-0'), undefined, 'annotate is false again');
});

test('an exception in the evaluation of one node is noted, and others are warned of', async () => {
  await using world = aWorld();
  await world.running(20);
  const { policies } = world.lifecycle.stages;
  const selectionOf = policies.selectionOf.bind(policies);
  policies.selectionOf = (node) => {
    if (node === 'a-1') throw new Error('a defect');
    return selectionOf(node);
  };
  await world.silentFor(30, 'a-0');
  assert.ok(warned(world).includes('a-0'));
  assert.ok(
    world.decided('evaluation-failed').some(({ stage, subject }) => stage === 'early warning' && subject === 'a-1'),
  );
});
