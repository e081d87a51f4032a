// Planned maintenance: a node is assessed truthfully, does not count as disrupted, and keeps its pods until the maximum.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { formatTime } from '../../../src/machinery/api/timestamps.ts';
import type { MaintenanceRule } from '../../../src/controller/model/policy.ts';
import { buildPreview } from '../../../src/cli/whatif/cluster-preview.ts';
import { aPolicy } from '../../support/builders.ts';
import type { ControllerWorld } from '../../support/controller-world.ts';
import { explainNode, explainPod } from '../../support/explained.ts';
import { aZonedWorld, names } from '../../support/zoned-world.ts';

const maxS = 600;
const inProgress = 'MaintenanceInProgress';
const rule: MaintenanceRule = {
  conditions: [inProgress, 'Repair'],
  taints: ['example.com/m'],
  maxDurationMs: 600_000,
};
const policies = [aPolicy({ name: 'pool', maintenance: rule })];
const sizes = { a: 6, b: 6 };
const foreign = { key: 'example.com/drain', effect: 'NoExecute' };
const notReady = { key: 'node.kubernetes.io/not-ready', effect: 'NoExecute' };
const mTaint = { key: 'example.com/m', effect: 'NoSchedule' };

function withPods(world: ControllerWorld, ...nodes: readonly string[]): ControllerWorld {
  for (const node of nodes) world.addPod(`pod-${node}`, node);
  return world;
}

function begin(world: ControllerWorld, ...nodes: readonly string[]): void {
  for (const node of nodes) world.setCondition(node, inProgress, 'True');
}

function held(world: ControllerWorld): number | undefined {
  return world.meter.read().get('node_lifecycle_held_nodes{reason="maintenance"}');
}

test('a silent node in maintenance is Unknown, keeps its pods until the maximum, and is evicted then, once', async () => {
  await using world = withPods(aZonedWorld(sizes, { policies }), 'a-0').start();
  begin(world, 'a-0');
  await world.silentFor(maxS - 1, 'a-0');
  assert.equal(world.ready('a-0'), 'Unknown');
  assert.equal(world.podReady('pod-a-0'), 'False', 'the pods of a node that is down are not ready');
  assert.deepEqual(world.taints('a-0'), ['unreachable:NoSchedule']);
  assert.deepEqual(world.evicted(), []);
  assert.equal(held(world), 1);
  await world.advance(2);
  assert.deepEqual(world.taints('a-0'), ['unreachable:NoExecute', 'unreachable:NoSchedule']);
  assert.deepEqual(world.evicted(), ['pod-a-0']);
  assert.equal(held(world), 0);
  await world.advance(200);
  assert.deepEqual(world.evicted(), ['pod-a-0']);
  assert.equal(world.decided('maintenance-began').length, 1);
  assert.deepEqual(
    world.decided('maintenance-ended').map(({ why }) => why),
    ['maximum'],
  );
});

test('without maintenance in a policy the same conditions hold nothing', async () => {
  await using world = withPods(aZonedWorld(sizes, { policies: [aPolicy()] }), 'a-0').start();
  begin(world, 'a-0');
  await world.silentFor(60, 'a-0');
  assert.deepEqual(world.evicted(), ['pod-a-0']);
  assert.deepEqual(world.decided('maintenance-began'), []);
});

test('a zone with most nodes in maintenance stays normal, and its other nodes are evicted at its full rate', async () => {
  const others = ['a-4', 'a-5'];
  await using world = withPods(aZonedWorld(sizes, { policies }), ...names(6, 'a-')).start();
  begin(world, ...names(4, 'a-'));
  await world.silentFor(60, ...names(4, 'a-'));
  assert.equal(world.lifecycle.stages.zones.condition('r/a'), 'normal');
  assert.deepEqual(world.lifecycle.stages.zones.plan('r/a')?.why.unready, 0);
  assert.deepEqual(world.decided('outage-named'), []);
  assert.deepEqual(world.decided('acts-held'), []);
  await world.silentFor(70, 'a-4');
  assert.deepEqual(world.tainted(others), ['a-4']);
  assert.deepEqual(world.evicted(), ['pod-a-4']);
});

test('nodes whose maintenance ends together are counted before any of them is tainted', async () => {
  await using world = withPods(aZonedWorld(sizes, { policies }), ...names(5, 'a-')).start();
  begin(world, ...names(5, 'a-'));
  await world.silentFor(maxS - 1, ...names(5, 'a-'));
  assert.equal(world.lifecycle.stages.zones.condition('r/a'), 'normal');
  await world.advance(60);
  assert.equal(world.lifecycle.stages.zones.condition('r/a'), 'partially-disrupted');
  assert.deepEqual(world.tainted(names(5, 'a-')), [], 'the rate of a small disrupted zone is 0');
  assert.deepEqual(world.evicted(), []);
});

type End = readonly [string, (world: ControllerWorld) => void];

const ends: readonly End[] = [
  ['the condition becomes False', (world) => world.setCondition('a-0', inProgress, 'False')],
  ['the condition is removed', (world) => world.setCondition('a-0', inProgress, undefined)],
  ['the policy is removed', (world) => world.changeOptions({ policies: [] })],
  [
    'the maximum becomes shorter',
    (world) => world.changeOptions({ policies: [aPolicy({ maintenance: { ...rule, maxDurationMs: 100_000 } })] }),
  ],
];

for (const [name, end] of ends) {
  test(`maintenance ends early: ${name}`, async () => {
    await using world = withPods(aZonedWorld(sizes, { policies }), 'a-0').start();
    begin(world, 'a-0');
    await world.silentFor(200, 'a-0');
    end(world);
    await world.advance(1.1);
    assert.deepEqual(world.evicted(), ['pod-a-0']);
    assert.equal(world.decided('node-silent').length, 1);
    assert.equal(world.decided('maintenance-ended').length, 1);
    assert.equal(world.lifecycle.stages.zones.plan('r/a')?.why.unready, 1);
    await world.advance(maxS);
    assert.deepEqual(world.evicted(), ['pod-a-0']);
  });
}

test('a policy that is added live holds what is due, and a longer maximum extends it', async () => {
  await using world = withPods(aZonedWorld(sizes), 'a-0').start();
  begin(world, 'a-0');
  world.goSilent('a-0');
  await world.advance(30);
  world.changeOptions({ policies });
  await world.advance(maxS - 40);
  const longer = { ...rule, maxDurationMs: 1_200_000 };
  world.changeOptions({ policies: [aPolicy({ name: 'pool', maintenance: longer })] });
  await world.advance(600);
  assert.deepEqual(world.evicted(), []);
  await world.advance(12);
  assert.deepEqual(world.evicted(), ['pod-a-0']);
});

test('another condition continues the maintenance, and each counts from its own time', async () => {
  await using world = withPods(aZonedWorld(sizes, { policies }), 'a-0').start();
  begin(world, 'a-0');
  await world.silentFor(300, 'a-0');
  world.setCondition('a-0', 'Repair', 'True');
  world.setCondition('a-0', inProgress, 'False');
  await world.advance(599);
  assert.deepEqual(world.evicted(), []);
  await world.advance(2);
  assert.deepEqual(world.evicted(), ['pod-a-0']);
  assert.equal(world.decided('maintenance-began').length, 1);
});

test('a transition time that alone changes moves the end', async () => {
  await using world = withPods(aZonedWorld(sizes, { policies }), 'a-0').start();
  begin(world, 'a-0');
  await world.silentFor(300, 'a-0');
  begin(world, 'a-0');
  await world.advance(500);
  assert.deepEqual(world.evicted(), []);
  world.setCondition('a-0', inProgress, 'True', formatTime(world.clock.nowMs() - 700_000));
  await world.advance(1.1);
  assert.deepEqual(world.evicted(), ['pod-a-0']);
});

test('a node that is back before the maximum is untouched when it ends', async () => {
  await using world = withPods(aZonedWorld(sizes, { policies }), 'a-0').start();
  begin(world, 'a-0');
  await world.silentFor(300, 'a-0');
  world.recover('a-0');
  await world.advance(maxS);
  assert.deepEqual(world.taints('a-0'), []);
  assert.deepEqual(world.evicted(), []);
});

test('pods of a node that had its taint before the maintenance stay until the maximum', async () => {
  await using world = aZonedWorld(sizes, { policies });
  world.addPod('pod', 'a-0', [{ operator: 'Exists', effect: 'NoExecute', tolerationSeconds: 100 }]);
  await world.start().silentFor(60, 'a-0');
  assert.deepEqual(world.tainted(['a-0']), ['a-0']);
  begin(world, 'a-0');
  await world.advance(maxS - 1);
  assert.deepEqual(world.evicted(), []);
  assert.equal(world.decided('eviction-held').filter(({ why }) => why === 'maintenance').length, 1);
  await world.advance(2);
  assert.deepEqual(world.evicted(), ['pod']);
});

test('one health taint does not replace the other before the maximum, and does after it', async () => {
  await using world = aZonedWorld(sizes, { policies });
  world.post('a-0', 'False');
  world.setTaints('a-0', [notReady]);
  begin(world, 'a-0');
  await world.start().silentFor(300, 'a-0');
  assert.equal(world.ready('a-0'), 'Unknown');
  assert.deepEqual(world.taints('a-0'), ['not-ready:NoExecute', 'unreachable:NoSchedule']);
  await world.advance(302);
  assert.deepEqual(world.taints('a-0'), ['unreachable:NoExecute', 'unreachable:NoSchedule']);
});

test('taints of other clients evict during maintenance, also from a node that is held for its health', async () => {
  await using world = withPods(aZonedWorld(sizes, { policies }), 'a-0', 'a-1');
  world.post('a-0', 'False');
  world.setTaints('a-0', [notReady]);
  begin(world, 'a-0', 'a-1');
  await world.running(30);
  assert.deepEqual(world.evicted(), []);
  world.setTaints('a-0', [notReady, foreign]);
  world.setTaints('a-1', [foreign]);
  await world.advance(2);
  assert.deepEqual([...world.evicted()].sort(), ['pod-a-0', 'pod-a-1']);
});

test('a taint means maintenance from its timeAdded, and without one from when it was first seen', async () => {
  for (const timeAdded of [true, false]) {
    await using world = withPods(aZonedWorld(sizes, { policies }), 'a-0').start();
    await world.advance(1);
    const stamp = timeAdded ? { timeAdded: formatTime(world.clock.nowMs()) } : {};
    world.setTaints('a-0', [{ ...mTaint, ...stamp }]);
    await world.silentFor(maxS - 2, 'a-0');
    assert.deepEqual(world.evicted(), []);
    await world.advance(3.1);
    assert.deepEqual(world.evicted(), ['pod-a-0']);
  }
});

const unusable: readonly (readonly [string, string | null])[] = [
  ['missing', null],
  ['malformed', 'yesterday'],
  ['far in the future', '2036-01-01T00:00:00Z'],
];

for (const [name, time] of unusable) {
  test(`a condition whose time is ${name} counts from when it was first seen`, async () => {
    await using world = withPods(aZonedWorld(sizes, { policies }), 'a-0').start();
    world.setCondition('a-0', inProgress, 'True', time);
    await world.silentFor(maxS - 1, 'a-0');
    assert.deepEqual(world.evicted(), []);
    await world.advance(2.1);
    assert.deepEqual(world.evicted(), ['pod-a-0']);
  });
}

test('a maximum that is over holds nothing', async () => {
  await using world = withPods(aZonedWorld(sizes, { policies }), 'a-0').start();
  world.setCondition('a-0', inProgress, 'True', formatTime(world.clock.nowMs() - 600_000));
  await world.silentFor(60, 'a-0');
  assert.deepEqual(world.evicted(), ['pod-a-0']);
});

test('a new leader derives the same maintenance, and its end', async () => {
  await using world = withPods(aZonedWorld(sizes, { policies }), 'a-0', 'a-1').start();
  begin(world, 'a-0');
  world.post('a-1', 'False');
  world.setTaints('a-1', [{ ...notReady, timeAdded: formatTime(world.clock.nowMs()) }]);
  begin(world, 'a-1');
  await world.silentFor(300, 'a-0');
  await world.restart();
  await world.advance(299);
  assert.deepEqual(world.evicted(), []);
  assert.equal(world.lifecycle.stages.zones.plan('r/a')?.why.unready, 0);
  await world.advance(13);
  assert.deepEqual([...world.evicted()].sort(), ['pod-a-0', 'pod-a-1']);
});

test('the wall clock is stepped: the end follows it within the monitor period', async () => {
  await using world = withPods(aZonedWorld(sizes, { policies }), 'a-0').start();
  begin(world, 'a-0');
  await world.silentFor(300, 'a-0');
  world.clock.jumpWall(301_000);
  await world.advance(6);
  assert.deepEqual(world.evicted(), ['pod-a-0']);
});

test('eviction mode: pods stay until the maximum, and are deleted then', async () => {
  const options = { policies, taintBasedEvictions: false, podEvictionTimeoutMs: 60_000 };
  await using world = withPods(aZonedWorld(sizes, options), 'a-0', 'b-0').start();
  begin(world, 'a-0');
  await world.silentFor(maxS - 1, 'a-0', 'b-0');
  assert.deepEqual(world.evicted(), ['pod-b-0']);
  await world.advance(2);
  assert.deepEqual(world.evicted(), ['pod-b-0', 'pod-a-0']);
});

test('explain shows why, until when, and what ends it', async () => {
  await using world = withPods(aZonedWorld(sizes, { policies }), 'a-0').start();
  begin(world, 'a-0');
  await world.silentFor(100, 'a-0');
  const node = explainNode(world, 'a-0');
  const [hold] = node.holds.filter(({ kind }) => kind === 'maintenance');
  assert.deepEqual(
    hold?.unblockedBy.map(({ kind }) => kind),
    ['maintenance-cleared', 'maintenance-maximum'],
  );
  assert.equal(node.counted, false);
  assert.equal(node.noExecuteTaint?.when.inSeconds, 500);
  assert.equal(explainPod(world, 'pod-a-0').eviction?.when.inSeconds, 500);
  await world.advance(501);
  assert.deepEqual(explainNode(world, 'a-0').holds, []);
});

test('nodes in maintenance do not count for the limit of unhealthy nodes, and do when it ends', async () => {
  const limits = { maxUnhealthy: { percent: undefined, count: 2 }, cooldownMs: 60_000, resetAtMs: undefined };
  const limited = [aPolicy({ name: 'pool', maintenance: rule, limits })];
  await using world = aZonedWorld(sizes, { policies: limited }).start();
  begin(world, 'a-0', 'a-1', 'a-2');
  await world.silentFor(300, 'a-0', 'a-1', 'a-2', 'a-3');
  const isTainted = (node: string): boolean => world.taints(node).includes('unreachable:NoExecute');
  assert.deepEqual(['a-0', 'a-1', 'a-2', 'a-3'].map(isTainted), [false, false, false, true]);
  await world.advance(400);
  assert.ok(world.kinds().includes('breaker-opened'), 'four of the pool are unhealthy now');
  assert.deepEqual(['a-0', 'a-1', 'a-2'].map(isTainted), [false, false, false]);
  world.recover('a-0', 'a-3');
  await world.advance(120);
  assert.deepEqual(['a-1', 'a-2'].map(isTainted), [true, true], 'the breaker closed');
});

test('nothing is remembered of a node that no longer exists', async () => {
  await using world = aZonedWorld(sizes, { policies }).start();
  world.setCondition('a-0', inProgress, 'True', null);
  await world.silentFor(100, 'a-0');
  const { policies: stage } = world.lifecycle.stages;
  assert.equal(stage.maintenance.size, 1);
  world.removeNode('a-0');
  await world.advance(6);
  assert.equal(stage.maintenance.size, 0);
  assert.equal(stage.maintenance.endsInMs(), Infinity);
});

test('on a standby whose policies come after its nodes, a signal without a time counts from then, not from the takeover', async () => {
  await using world = withPods(aZonedWorld(sizes), 'a-0');
  world.setTaints('a-0', [mTaint]);
  world.changeOptions({ policies });
  await world.advance(maxS - 100);
  world.start();
  await world.silentFor(99, 'a-0');
  assert.deepEqual(world.evicted(), []);
  await world.advance(3);
  assert.deepEqual(world.evicted(), ['pod-a-0']);
});

test('nodes in maintenance open no breaker when the leader changes, when limits come by a reload, and in whatif', async () => {
  const limits = { maxUnhealthy: { percent: undefined, count: 2 }, cooldownMs: 300_000, resetAtMs: undefined };
  const maintained = aPolicy({ name: 'pool', maintenance: rule });
  await using world = aZonedWorld(sizes, { policies: [maintained] }).start();
  const nodes = ['a-0', 'a-1', 'a-2', 'a-3'];
  begin(world, ...nodes);
  await world.silentFor(120, ...nodes);
  world.changeOptions({ policies: [{ ...maintained, limits }] });
  await world.advance(2);
  await world.restart();
  await world.advance(2);
  assert.deepEqual(world.decided('breaker-opened'), []);
  const leases = new Map([...world.leases.values()].map((lease) => [lease.name, lease]));
  const state = { atMs: world.clock.nowMs(), nodes: [...world.nodes.values()], leases, pods: new Map() };
  const { policies } = buildPreview(state, world.options);
  assert.deepEqual(policies.get('pool')?.breaker, { unhealthy: 0, limit: 2, open: false });
});
