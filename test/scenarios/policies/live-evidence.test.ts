// A live read of a node, made because the watch of nodes is late, answers every question: whatever it shows that holds a
// deletion holds it, not only a taint that is gone.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { outOfServiceAnnotation } from '../../../src/machinery/api/node.ts';
import type { NodePolicy } from '../../../src/controller/model/policy.ts';
import { outOfServiceLabel } from '../../../src/machinery/api/topology.ts';
import { aPolicy } from '../../support/builders.ts';
import { ControllerWorld } from '../../support/controller-world.ts';
import { aZonedWorld, names } from '../../support/zoned-world.ts';

const selects = (value: string): NodePolicy['selector'] => [{ key: 'mode', operator: 'In', values: [value] }];
const maintenance = { conditions: ['MaintenanceInProgress'], taints: ['example.com/m'], maxDurationMs: 600_000 };
const policies = [
  aPolicy({ name: 'paused', mode: 'Paused', selector: selects('paused'), priority: 1 }),
  aPolicy({ name: 'observed', mode: 'Observe', selector: selects('observed'), priority: 1 }),
  aPolicy({
    name: 'limited',
    selector: selects('limited'),
    priority: 1,
    limits: { maxUnhealthy: { percent: undefined, count: 0 }, cooldownMs: 60_000, resetAtMs: undefined },
  }),
  aPolicy({ name: 'pool', maintenance }),
];

function label(world: ControllerWorld, value: string | undefined): void {
  const { labels } = world.node('a-0').metadata;
  const { mode: _, ...others } = { mode: '', ...labels };
  world.setLabels('a-0', value === undefined ? others : { ...others, mode: value });
}

type Switch = (world: ControllerWorld, on: boolean) => void;

/** What holds deletions for the health of `a-0`, on and off again. */
const protections: readonly (readonly [string, Switch])[] = [
  ['an annotation', (world, on) => world.annotatePause('a-0', on ? 'true' : undefined)],
  ['a malformed annotation', (world, on) => world.annotatePause('a-0', on ? 'tomorow' : undefined)],
  ['a label of a policy in mode Paused', (world, on) => label(world, on ? 'paused' : undefined)],
  ['a label of a policy in mode Observe', (world, on) => label(world, on ? 'observed' : undefined)],
  ['a label of a policy whose breaker opens', (world, on) => label(world, on ? 'limited' : undefined)],
  ['planned maintenance', (world, on) => world.setCondition('a-0', 'MaintenanceInProgress', on ? 'True' : undefined)],
];

function deliver(world: ControllerWorld): void {
  world.nodesFrozen = false;
  world.syncCaches();
}

for (const [title, protect] of protections) {
  test(`${title} that only a live read shows holds the deletion, and its end releases it`, async () => {
    await using world = await aZonedWorld({ a: 4, b: 4 }, { policies, nodeEvictionRate: 1 }).running(1);
    world.post('a-0', 'False');
    await world.advance(5);
    assert.ok(world.taints('a-0').includes('not-ready:NoExecute'));
    world.nodesFrozen = true;
    protect(world, true);
    world.addPod('fresh', 'a-0');
    await world.advance(30);
    assert.deepEqual(world.evicted(), [], 'the pod is newer than the watch of nodes, so its node was read');
    deliver(world);
    await world.advance(60);
    assert.deepEqual(world.evicted(), []);
    protect(world, false);
    await world.advance(65);
    assert.deepEqual(world.evicted(), ['fresh']);
  });
}

/** `a-0` is tainted and in planned maintenance, which only a live read shows: that of a pod which is newer than the watch of nodes. */
async function aLateMaintenance(): Promise<ControllerWorld> {
  const world = await aZonedWorld({ a: 4, b: 4 }, { policies, nodeEvictionRate: 1 }).running(1);
  world.post('a-0', 'False');
  await world.advance(20);
  world.nodesFrozen = true;
  world.setCondition('a-0', 'MaintenanceInProgress', 'True');
  world.addPod('fresh', 'a-0');
  return world;
}

const unhealthyInA = (world: ControllerWorld): number | undefined =>
  world.meter.read().get('node_collector_unhealthy_nodes_in_zone{zone="r/a"}');

test('a node counts in its zone by what a live read shows of its maintenance, in the next pass', async () => {
  await using world = await aLateMaintenance();
  assert.equal(unhealthyInA(world), 1);
  await world.advance(6);
  assert.equal(unhealthyInA(world), 0);
});

test('maintenance that only live reads showed and that is over holds for no longer than a pass', async () => {
  await using world = await aLateMaintenance();
  await world.advance(65);
  assert.deepEqual(world.evicted(), []);
  world.setCondition('a-0', 'MaintenanceInProgress', undefined);
  deliver(world);
  await world.advance(7);
  assert.deepEqual([world.evicted(), unhealthyInA(world)], [['fresh'], 1]);
});

test('a pause that only a live read shows holds the deletion for the taint of another client too, and maintenance does not', async () => {
  for (const [protect, evicted] of [
    [(world: ControllerWorld) => world.annotatePause('a-0', 'true'), []],
    [(world: ControllerWorld) => world.setCondition('a-0', 'MaintenanceInProgress', 'True'), ['fresh']],
  ] as const) {
    await using world = aZonedWorld({ a: 4, b: 4 }, { policies });
    world.setTaints('a-0', [{ key: 'example.com/drain', effect: 'NoExecute' }]);
    await world.running(20);
    world.nodesFrozen = true;
    protect(world);
    world.addPod('fresh', 'a-0');
    await world.advance(30);
    assert.deepEqual(world.evicted(), evicted);
  }
});

test('a node that registered again is another node: what the former one was tainted for deletes no pod of it', async () => {
  await using world = await aZonedWorld({ a: 4, b: 4 }, { nodeEvictionRate: 1 }).running(1);
  world.post('a-0', 'False');
  await world.advance(5);
  const taints = world.node('a-0').spec?.taints ?? [];
  world.nodesFrozen = true;
  world.addNode('a-0', { zone: 'a', ready: 'False', taints });
  world.annotatePause('a-0', 'true');
  world.addPod('fresh', 'a-0');
  await world.advance(30);
  assert.deepEqual(world.evicted(), []);
  deliver(world);
  await world.advance(60);
  assert.deepEqual(world.evicted(), []);
});

test('a node that only a live read shows to be back loses its taints at once', async () => {
  await using world = await aZonedWorld({ a: 4, b: 4 }, { nodeEvictionRate: 1 }).running(1);
  await world.silentFor(60, 'a-0');
  assert.deepEqual(world.tainted(['a-0']), ['a-0']);
  world.nodesFrozen = true;
  world.post('a-0', 'True');
  world.addPod('fresh', 'a-0');
  await world.advance(5);
  assert.deepEqual(world.evicted(), []);
  assert.deepEqual(world.taints('a-0'), []);
});

const outOfService = { key: 'node.kubernetes.io/out-of-service', value: 'nodeshutdown', effect: 'NoExecute' };

/** A terminating pod of an out-of-service node, which the pod garbage collector deletes, while the watch of nodes is late. */
async function aLateCollection(protect: (world: ControllerWorld) => void): Promise<ControllerWorld> {
  const world = new ControllerWorld({ policies }, { podGc: true });
  world.addNodes(names(4, 'a-'));
  world.addPod('db', 'a-0', [{ operator: 'Exists' }]);
  await world.running(30);
  world.post('a-0', 'False');
  world.setTaints('a-0', [outOfService]);
  await world.advance(10);
  world.nodesFrozen = true;
  protect(world);
  world.changePod('db', (pod) => {
    const deletion = { deletionTimestamp: '2026-01-02T03:05:05Z', deletionGracePeriodSeconds: 30 };
    return { ...pod, metadata: { ...pod.metadata, ...deletion } };
  });
  await world.advance(60);
  return world;
}

for (const [title, protect] of protections.slice(0, 4)) {
  test(`pod garbage collection: ${title} that only a live read shows holds the deletion by force`, async () => {
    await using world = await aLateCollection((late) => protect(late, true));
    assert.deepEqual(world.evicted(), []);
    protect(world, false);
    deliver(world);
    await world.advance(30);
    assert.deepEqual(world.evicted(), ['db']);
  });
}

test('pod garbage collection: maintenance holds no deletion by force, as without a late watch', async () => {
  await using world = await aLateCollection((late) => late.setCondition('a-0', 'MaintenanceInProgress', 'True'));
  assert.ok(world.evicted().includes('db'));
});

test('pod garbage collection: an out-of-service node that registered again, and is paused, keeps its terminating pods', async () => {
  await using world = await aLateCollection((late) => {
    late.addNode('a-0', { ready: 'False', taints: [outOfService] });
    late.annotatePause('a-0', 'true');
  });
  assert.deepEqual(world.evicted(), []);
});

test('a pause that the watch of nodes has not delivered holds the taint out-of-service', async () => {
  const rule = { conditions: [], taints: ['example.com/off'] };
  const fencing = [aPolicy({ name: 'pool', outOfService: rule })];
  await using world = aZonedWorld({ a: 6, b: 6 }, { policies: fencing });
  world.setLabels('a-0', { ...world.node('a-0').metadata.labels, [outOfServiceLabel]: 'allowed' });
  await world.start().silentFor(70, 'a-0');
  world.unreadableLeases.add('a-0');
  world.setTaints('a-0', [...(world.node('a-0').spec?.taints ?? []), { key: 'example.com/off', effect: 'NoSchedule' }]);
  await world.advance(5);
  world.nodesFrozen = true;
  world.annotatePause('a-0', 'true');
  world.unreadableLeases.clear();
  await world.advance(60);
  assert.equal(world.node('a-0').metadata.annotations?.[outOfServiceAnnotation], undefined);
});
