// The conditions of KEP-5683: a machine that is off is emptied, whatever its kubelet or a drain left on its node; one that ends its
// pods itself is left to it.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { describeNodeOutlook } from '../../../src/controller/report/text/describe-outlooks.ts';
import { lifecycleConditions, listConditions } from '../../../src/machinery/api/conditions.ts';
import { formatTime } from '../../../src/machinery/api/timestamps.ts';
import type { MaintenanceRule } from '../../../src/controller/model/policy.ts';
import { aPolicy } from '../../support/builders.ts';
import type { ControllerWorld } from '../../support/controller-world.ts';
import { explainNode } from '../../support/explained.ts';
import { aZonedWorld, names } from '../../support/zoned-world.ts';

const shutdown = 'GracefulNodeShutdownInProgress';
const drain = 'DrainInProgress';
const rule: MaintenanceRule = {
  conditions: lifecycleConditions,
  taints: [],
  maxDurationMs: 600_000,
  maxTotalMs: 900_000,
};
const sizes = { a: 6, b: 6 };

function aWorld(maintenance: MaintenanceRule = rule, ...nodes: readonly string[]): ControllerWorld {
  const world = aZonedWorld(sizes, { policies: [aPolicy({ name: 'pool', maintenance })] });
  for (const node of nodes) world.addPod(`pod-${node}`, node);
  return world.start();
}

function set(world: ControllerWorld, node: string, ...conditions: readonly string[]): void {
  for (const condition of conditions) world.setCondition(node, condition, 'True');
}

test('a node that is powered off with both conditions True is tainted and emptied at the normal time', async () => {
  await using plain = aZonedWorld(sizes);
  await using world = aWorld(rule, 'a-0');
  set(world, 'a-0', shutdown, drain);
  plain.addPod('pod-a-0', 'a-0');
  await plain.start().silentFor(60, 'a-0');
  await world.silentFor(60, 'a-0');
  assert.deepEqual(world.evicted(), ['pod-a-0']);
  const times = [plain, world].map((each) => each.decided('taints-changed').length);
  assert.equal(times[0], times[1]);
  assert.deepEqual(world.taints('a-0'), plain.taints('a-0'));
  assert.equal(world.lifecycle.stages.zones.plan('r/a')?.why.unready, 0, 'it is no evidence of an outage');
});

test('most nodes of a zone are shut down: the zone stays normal, and each is emptied at the full rate', async () => {
  const off = names(4, 'a-');
  await using world = aWorld(rule, ...off);
  for (const node of off) set(world, node, shutdown, drain);
  await world.silentFor(100, ...off);
  assert.equal(world.lifecycle.stages.zones.condition('r/a'), 'normal');
  assert.deepEqual(world.decided('outage-named'), []);
  assert.deepEqual([...world.evicted()].sort(), off.map((node) => `pod-${node}`).sort());
});

test('a node in graceful shutdown keeps its pods while its kubelet ends them, and is emptied when it is off', async () => {
  await using world = aWorld(rule, 'a-0');
  set(world, 'a-0', shutdown);
  world.post('a-0', 'False');
  await world.running(300);
  assert.deepEqual(world.taints('a-0'), ['not-ready:NoSchedule']);
  assert.deepEqual(world.evicted(), []);
  assert.deepEqual(
    world.decided('maintenance-began').map(({ signals }) => signals),
    [[`condition ${shutdown}`]],
  );
  await world.silentFor(60, 'a-0');
  assert.deepEqual(world.taints('a-0'), ['unreachable:NoExecute', 'unreachable:NoSchedule']);
  assert.deepEqual(world.evicted(), ['pod-a-0']);
  assert.deepEqual(
    world.decided('maintenance-ended').map(({ why }) => why),
    ['released'],
  );
});

test('pods that are held while their node is alive are evicted when it is silent', async () => {
  await using world = aZonedWorld(sizes, { policies: [aPolicy({ name: 'pool', maintenance: rule })] });
  world.addPod('pod', 'a-0', [{ operator: 'Exists', effect: 'NoExecute', tolerationSeconds: 30 }]);
  world.start().post('a-0', 'False');
  await world.running(20);
  assert.deepEqual(world.taints('a-0'), ['not-ready:NoExecute', 'not-ready:NoSchedule']);
  set(world, 'a-0', shutdown);
  await world.running(120);
  assert.deepEqual(world.evicted(), []);
  await world.silentFor(60, 'a-0');
  assert.deepEqual(world.evicted(), ['pod']);
});

test('a drain holds nothing: a node that is not ready meanwhile is emptied, and not counted', async () => {
  await using world = aWorld(rule, 'a-0');
  set(world, 'a-0', drain);
  world.post('a-0', 'False');
  await world.running(30);
  assert.deepEqual(world.evicted(), ['pod-a-0']);
  assert.equal(world.lifecycle.stages.zones.plan('r/a')?.why.unready, 0);
  assert.deepEqual(explainNode(world, 'a-0').holds, []);
  assert.equal(explainNode(world, 'a-0').counted, false);
});

test('a planned maintenance is announced only: it counts as any other node', async () => {
  await using world = aWorld(rule, 'a-0');
  set(world, 'a-0', 'MaintenancePlanned');
  await world.silentFor(60, 'a-0');
  assert.deepEqual(world.evicted(), ['pod-a-0']);
  assert.equal(world.lifecycle.stages.zones.plan('r/a')?.why.unready, 1);
});

test('with holdsWhileSilent the condition that a shutdown left holds a silent node, up to the maximum', async () => {
  await using world = aWorld({ ...rule, holdsWhileSilent: [shutdown] }, 'a-0');
  set(world, 'a-0', shutdown);
  await world.silentFor(599, 'a-0');
  assert.deepEqual(world.evicted(), []);
  await world.advance(12);
  assert.deepEqual(world.evicted(), ['pod-a-0']);
});

test('conditions that are set one after the other hold one outage no longer than the maximum of all together', async () => {
  await using world = aWorld(rule, 'a-0');
  set(world, 'a-0', 'MaintenanceInProgress');
  await world.silentFor(50, 'a-0');
  const unknownAtMs = world.clock.nowMs();
  for (let round = 0; round < 8; round += 1) {
    await world.advance(100);
    set(world, 'a-0', 'MaintenanceInProgress');
  }
  assert.deepEqual(world.evicted(), []);
  await world.advance(110);
  assert.ok(world.clock.nowMs() - unknownAtMs < 920_000);
  assert.deepEqual(world.evicted(), ['pod-a-0']);
});

test('a node that is only suspected keeps its hold: its lease is renewed, which the cache does not show', async () => {
  await using world = aZonedWorld(sizes, { policies: [aPolicy({ name: 'pool', maintenance: rule })] });
  world.addPod('pod', 'a-0', [{ operator: 'Exists', effect: 'NoExecute', tolerationSeconds: 30 }]);
  world.start().post('a-0', 'False');
  await world.running(20);
  set(world, 'a-0', shutdown);
  await world.advance(120);
  world.unreadableLeases.add('a-0');
  world.goSilent('a-0');
  await world.advance(52);
  assert.equal(world.ready('a-0'), 'False', 'its silence is not confirmed');
  assert.deepEqual(world.evicted(), []);
  assert.deepEqual(world.decided('maintenance-ended'), []);
});

test('a new leader does not take a node that is off for alive', async () => {
  await using world = aZonedWorld(sizes, { policies: [aPolicy({ name: 'pool', maintenance: rule })] });
  world.addPod('pod', 'a-0', [{ operator: 'Exists', effect: 'NoExecute', tolerationSeconds: 60 }]);
  world.start();
  set(world, 'a-0', shutdown);
  await world.silentFor(70, 'a-0');
  for (let round = 0; round < 3; round += 1) {
    await world.restart();
    await world.advance(45);
  }
  assert.deepEqual(world.evicted(), ['pod']);
});

/** The kubelet says with this time that the node is not ready; absent: without one. */
function postUnready(world: ControllerWorld, name: string, at: string | undefined): void {
  const node = world.node(name);
  const others = listConditions(node?.status?.conditions).filter(({ type }) => type !== 'Ready');
  const lastHeartbeatTime = formatTime(world.clock.nowMs());
  const ready = {
    type: 'Ready',
    status: 'False',
    lastHeartbeatTime,
    ...(at === undefined ? {} : { lastTransitionTime: at }),
  };
  if (node !== undefined) world.putNode({ ...node, status: { ...node.status, conditions: [ready, ...others] } });
}

for (const [what, inSeconds] of [
  ['missing', undefined],
  ['a day ahead', 86_400],
] as const) {
  test(`a time of Ready that is ${what} does not extend the maximum of all signals`, async () => {
    await using world = aWorld(rule, 'a-0');
    set(world, 'a-0', 'MaintenanceInProgress');
    await world.advance(1);
    postUnready(world, 'a-0', inSeconds && formatTime(world.clock.nowMs() + inSeconds * 1_000));
    for (let round = 0; round < 10; round += 1) {
      await world.running(100);
      set(world, 'a-0', 'MaintenanceInProgress');
    }
    assert.deepEqual(world.evicted(), ['pod-a-0']);
  });
}

test('a kubelet whose clock was not set after a reboot does not end the maintenance of its node', async () => {
  await using world = aWorld(rule, 'a-0');
  set(world, 'a-0', 'MaintenanceInProgress');
  await world.silentFor(120, 'a-0');
  world.renewing('a-0');
  postUnready(world, 'a-0', '1970-01-01T00:00:10Z');
  await world.advance(30);
  assert.deepEqual(world.evicted(), []);
});

test('a node that was not ready for long can be put in maintenance', async () => {
  await using world = aZonedWorld(sizes, { policies: [aPolicy({ name: 'pool', maintenance: rule })] });
  world.addPod('pod', 'a-0', [{ operator: 'Exists', effect: 'NoExecute', tolerationSeconds: 1_200 }]);
  world.start().post('a-0', 'False');
  await world.running(1_000);
  set(world, 'a-0', 'MaintenanceInProgress');
  await world.running(300);
  assert.deepEqual(world.evicted(), []);
});

test('eviction mode: a shutdown holds the pods of a living node, and none of one that is off', async () => {
  const policies = [aPolicy({ name: 'pool', maintenance: rule })];
  await using world = aZonedWorld(sizes, { policies, taintBasedEvictions: false, podEvictionTimeoutMs: 60_000 });
  for (const node of ['a-0', 'a-1']) world.addPod(`pod-${node}`, node);
  world.start();
  for (const node of ['a-0', 'a-1']) set(world, node, shutdown, drain);
  world.post('a-0', 'False');
  await world.silentFor(170, 'a-1');
  assert.deepEqual(world.evicted(), ['pod-a-1']);
  await world.silentFor(170, 'a-0', 'a-1');
  assert.deepEqual(world.evicted().toSorted(), ['pod-a-0', 'pod-a-1']);
});

test('of two policies with other rules that claim a silent node equally, the one that holds it holds', async () => {
  const held = { ...rule, holdsWhileSilent: [shutdown], maxDurationMs: 300_000 };
  const policies = [aPolicy({ name: 'pool', maintenance: rule }), aPolicy({ name: 'twin', maintenance: held })];
  await using world = aZonedWorld(sizes, { policies });
  world.addPod('pod', 'a-0');
  world.start();
  set(world, 'a-0', shutdown);
  await world.silentFor(200, 'a-0');
  assert.deepEqual(world.evicted(), []);
  const [hold] = explainNode(world, 'a-0').holds.filter(({ kind }) => kind === 'maintenance');
  assert.equal(hold?.kind === 'maintenance' && hold.policy, 'twin');
  await world.advance(120);
  assert.deepEqual(world.evicted(), ['pod'], 'the maximum is over');
});

test('explain says which signal holds', async () => {
  await using world = aWorld(rule, 'a-0');
  set(world, 'a-0', shutdown, drain);
  world.post('a-0', 'False');
  await world.running(20);
  const [hold] = explainNode(world, 'a-0').holds.filter(({ kind }) => kind === 'maintenance');
  assert.deepEqual(
    hold?.unblockedBy.flatMap((way) => (way.kind === 'maintenance-cleared' ? way.signals.map(({ name }) => name) : [])),
    [shutdown],
  );
  const outlook = describeNodeOutlook(explainNode(world, 'a-0'));
  assert.match(outlook, /condition GracefulNodeShutdownInProgress no longer True, .*, or its heartbeats end/);
  set(world, 'a-0', 'MaintenanceInProgress');
  await world.running(20);
  assert.doesNotMatch(describeNodeOutlook(explainNode(world, 'a-0')), /its heartbeats end/);
});

test('explain shows what is left on a node, and that it is stale', async () => {
  await using world = aWorld(rule, 'a-0');
  set(world, 'a-0', drain, 'MaintenancePlanned');
  await world.silentFor(60, 'a-0');
  const shown = (): readonly string[] =>
    describeNodeOutlook(explainNode(world, 'a-0'))
      .split('\n')
      .filter((line) => line.startsWith('  lifecycle'));
  assert.deepEqual(
    shown().map((line) => line.replaceAll(/[0-9.]+s/g, 'Ns')),
    [
      '  lifecycle  MaintenancePlanned is True for Ns: it holds nothing',
      '  lifecycle  DrainInProgress is True for Ns: it holds nothing, and the node is no evidence of a disruption',
    ],
  );
  await world.advance(600);
  for (const line of shown())
    assert.match(line, /; stale: the node is Unknown for 6\d\d(\.\d+)?s; the client that set it should remove it$/);
});
