// At most so many nodes of a policy are emptied at once; further ones wait in the queue of their zone without a token.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { formatTime } from '../../../src/machinery/api/timestamps.ts';
import { outOfServiceLabel } from '../../../src/machinery/api/topology.ts';
import { describeNodeOutlook } from '../../../src/controller/report/text/describe-outlooks.ts';
import { describeStatus } from '../../../src/controller/report/text/describe-status.ts';
import type { ControllerOptions, ControllerSelection } from '../../../src/controller/model/options.ts';
import { aPolicy } from '../../support/builders.ts';
import type { ControllerWorld } from '../../support/controller-world.ts';
import { DashboardWorld } from '../../support/dashboard-world.ts';
import { explainNode, statusOf } from '../../support/explained.ts';
import { aZonedWorld, names } from '../../support/zoned-world.ts';

const pool = names(6, 'a-');
const [a0 = '', a1 = '', a2 = '', a3 = ''] = pool;
const minute = [
  { key: 'node.kubernetes.io/unreachable', operator: 'Exists', tolerationSeconds: 60 },
  { key: 'node.kubernetes.io/not-ready', operator: 'Exists', tolerationSeconds: 60 },
];
const forever = [{ operator: 'Exists' }];

/** A pod on each node of the pool tolerates the taint for a minute, and one of a DaemonSet for ever. At most 2 at once. */
function aPool(
  over: Partial<ControllerOptions> = {},
  { max = 2, controllers = {} }: { readonly max?: number; readonly controllers?: Partial<ControllerSelection> } = {},
): ControllerWorld {
  const policies = [aPolicy({ maxConcurrentEvictions: max })];
  const rates = { nodeEvictionRate: 5, unhealthyZoneThreshold: 1, controlPlanePathFailureHoldMs: 0 };
  const world = aZonedWorld({ a: 6, b: 20 }, { policies, ...rates, ...over }, controllers);
  for (const node of pool) {
    world.addPod(`pod-${node}`, node, minute);
    world.addPod(`daemon-${node}`, node, forever);
  }
  return world.start();
}

function emptying(world: ControllerWorld): number | undefined {
  return world.meter.read().get('node_lifecycle_policy_emptying_nodes{policy="zone-a"}');
}

test('further nodes wait without a token, and the next one is tainted within a second when one is empty', async () => {
  await using world = aPool();
  await world.silentFor(55, a0, a1, a2, a3);
  assert.deepEqual(world.tainted(pool), [a0, a1]);
  assert.equal(emptying(world), 2);
  assert.equal(world.meter.read().get('node_lifecycle_held_nodes{reason="concurrency"}'), 2);
  assert.equal(world.meter.read().get('node_lifecycle_zone_eviction_tokens{zone="r/a"}'), 1);
  const text = describeNodeOutlook(explainNode(world, a2));
  assert.match(text, /held +at most 2 of the nodes of policy zone-a are emptied at once \(maxConcurrentEvictions\)/);
  assert.match(
    text,
    /would end: one of a-0, a-1 emptied or recovered, or policies\[zone-a\]\.limits\.maxConcurrentEvictions/,
  );
  assert.match(describeStatus(statusOf(world)), /policy +zone-a: .*; 2 of at most 2 nodes are being emptied/);
  assert.deepEqual(world.taints(a2), ['unreachable:NoSchedule'], 'marking and NoSchedule taints go on');

  const taintedAt = (node: string): number =>
    world.writes.find(({ name, body }) => name === node && JSON.stringify(body).includes('NoExecute'))?.atSeconds ??
    NaN;
  await world.advance(61);
  assert.deepEqual([...world.evicted()].sort(), [`pod-${a0}`, `pod-${a1}`]);
  assert.deepEqual(world.tainted(pool), [a0, a1, a2, a3]);
  const emptyAt = Math.min(...[a0, a1].map((node) => world.evictedAtSeconds(`pod-${node}`) ?? NaN));
  assert.ok(taintedAt(a2) >= emptyAt && taintedAt(a2) <= emptyAt + 1, `${taintedAt(a2)} after ${emptyAt}`);
  await world.advance(62);
  assert.equal(world.evicted().length, 4);
  assert.equal(emptying(world), 0, 'pods that terminate and those of DaemonSets do not count');
});

test('a node that recovers makes place', async () => {
  await using world = aPool({}, { max: 1 });
  await world.silentFor(55, a0, a1);
  assert.deepEqual(world.tainted(pool), [a0]);
  world.recover(a0);
  await world.advance(1.5);
  assert.deepEqual(world.tainted(pool), [a1]);
});

test('a node without pods that its taint evicts needs no place and takes none', async () => {
  await using world = aPool({}, { max: 1 });
  world.removePod(`pod-${a1}`);
  await world.silentFor(55, a0, a1, a2);
  assert.deepEqual(world.tainted(pool), [a0, a1]);
});

test('the swap of the taints of a node that is being emptied is not held', async () => {
  await using world = aPool({}, { max: 1 });
  world.post(a0, 'False');
  await world.advance(5);
  assert.deepEqual(world.taints(a0), ['not-ready:NoExecute', 'not-ready:NoSchedule']);
  await world.silentFor(52, a0);
  assert.deepEqual(world.taints(a0), ['unreachable:NoExecute', 'unreachable:NoSchedule']);
});

test('a higher maximum releases at once, a lower one reverts nothing', async () => {
  await using world = aPool({}, { max: 1 });
  await world.silentFor(55, a0, a1, a2, a3);
  world.changeOptions({ policies: [aPolicy({ maxConcurrentEvictions: 3 })] });
  await world.advance(1.5);
  assert.deepEqual(world.tainted(pool), [a0, a1, a2]);
  world.changeOptions({ policies: [aPolicy({ maxConcurrentEvictions: 1 })] });
  await world.advance(20);
  assert.deepEqual(world.tainted(pool), [a0, a1, a2]);
});

test('a taint that was perhaps added takes a place, although no cache shows it', async () => {
  await using world = aPool({}, { max: 1 });
  world.failNext('get', 'nodes', 'unavailable', 1_000);
  world.beforeWrite = ({ body }) => {
    if (JSON.stringify(body).includes('NoExecute')) {
      world.beforeWrite = () => Promise.resolve();
      world.nodesFrozen = true;
      world.failNext('patch', 'nodes', 'timeout', 1, true);
    }
    return Promise.resolve();
  };
  await world.silentFor(80, a0, a1, a2);
  assert.deepEqual(world.tainted(pool), [a0]);
  world.nodesFrozen = false;
  world.syncCaches();
  await world.advance(61);
  assert.deepEqual(world.tainted(pool), [a0, a1]);
});

test('a fault in a write takes a place for a bounded time, also where the node is paused after it', async () => {
  await using world = aPool({}, { max: 1 });
  world.beforeWrite = ({ body }) => {
    if (!JSON.stringify(body).includes('NoExecute')) return Promise.resolve();
    world.beforeWrite = () => Promise.resolve();
    world.annotatePause(a0, 'true');
    return Promise.reject(new TypeError('a fault'));
  };
  await world.silentFor(55, a0, a1);
  assert.deepEqual(world.tainted(pool), []);
  await world.advance(62);
  assert.deepEqual(world.tainted(pool), [a1]);
});

test('detector only: nodes and pods show what another controller evicts', async () => {
  await using world = aPool({}, { max: 1, controllers: { taintEviction: false } });
  await world.silentFor(55, a0, a1);
  assert.deepEqual(world.tainted(pool), [a0]);
  await world.advance(120);
  assert.deepEqual(world.tainted(pool), [a0]);
  world.removePod(`pod-${a0}`);
  await world.advance(1.5);
  assert.deepEqual(world.tainted(pool), [a0, a1]);
});

test('a new leader counts the nodes that the previous one tainted, and a taint of another client counts', async () => {
  await using world = aPool({}, { max: 2 });
  await world.silentFor(55, a0, a1, a2);
  await world.restart();
  await world.advance(20);
  assert.deepEqual(world.tainted(pool), [a0, a1]);
  const timeAdded = formatTime(world.clock.nowMs());
  world.setTaints(a3, [{ key: 'node.kubernetes.io/not-ready', effect: 'NoExecute', timeAdded }]);
  await world.advance(1);
  assert.deepEqual(world.tainted([a2]), []);
});

const shutdown = { key: 'node.cloudprovider.kubernetes.io/shutdown', effect: 'NoSchedule' };

/** At most one node of the pool is emptied at once, and those that are shut down get the taint out-of-service. */
function aFencedPool(): ControllerWorld {
  const policies = [aPolicy({ maxConcurrentEvictions: 1, outOfService: { conditions: [], taints: [shutdown.key] } })];
  const world = aZonedWorld({ a: 12, b: 12 }, { policies, nodeEvictionRate: 10 });
  for (const node of pool) world.addLabel(node, outOfServiceLabel, 'allowed');
  return world;
}

const isOut = (world: ControllerWorld, node: string): boolean =>
  world.taints(node).includes('out-of-service:NoExecute');

test('nodes whose pods only the taint out-of-service evicts get it one after the other', async () => {
  await using world = aFencedPool();
  const fenced = [a0, a1, a2];
  for (const node of fenced)
    world.addPod(`pod-${node}`, node, [
      { operator: 'Exists', key: 'node.kubernetes.io/unreachable' },
      { operator: 'Exists', key: 'node.kubernetes.io/out-of-service', tolerationSeconds: 30 },
    ]);
  world.start();
  for (const node of fenced) world.setTaints(node, [shutdown]);
  await world.silentFor(51, ...fenced);
  assert.equal(fenced.filter((node) => isOut(world, node)).length, 1);
  assert.equal(emptying(world), 1);
  assert.equal(world.meter.read().get('node_lifecycle_held_nodes{reason="concurrency"}'), 2);
  const [waiting = ''] = fenced.filter((node) => !isOut(world, node));
  assert.match(describeNodeOutlook(explainNode(world, waiting)), /held +at most 1 of the nodes of policy zone-a/);
  await using board = new DashboardWorld(world);
  assert.match(board.keeper.table.compute(waiting)?.held ?? '', /^at most 1 node of policy zone-a is emptied at once/);
  await world.advance(120);
  assert.deepEqual(
    [...world.evicted()].sort(),
    fenced.map((node) => `pod-${node}`),
  );
  assert.ok(fenced.every((node) => isOut(world, node)));
});

test('a fenced node whose pods only terminate waits for no other place, whatever its DaemonSets tolerate', async () => {
  await using world = aFencedPool();
  world.addPod('stuck', a0);
  world.addPod(
    'agent',
    a0,
    ['unreachable', 'not-ready'].map((key) => ({ operator: 'Exists', key: `node.kubernetes.io/${key}` })),
  );
  world.addPod('long', a1, [{ operator: 'Exists', tolerationSeconds: 86_400 }]);
  world.start();
  const deletionTimestamp = formatTime(world.clock.nowMs());
  world.changePod('stuck', (stored) => ({ ...stored, metadata: { ...stored.metadata, deletionTimestamp } }));
  await world.silentFor(60, a0);
  await world.silentFor(60, a1);
  assert.deepEqual(world.tainted(pool), [a0, a1], 'the place is free while the pod terminates');
  world.setTaints(a0, [...(world.node(a0).spec?.taints ?? []), shutdown]);
  await world.advance(15);
  assert.ok(isOut(world, a0), world.taints(a0).join(' '));
});

test('a taint whose request had no answer takes a place only if it evicts a pod', async () => {
  await using world = aFencedPool();
  world.addPod(
    'agent',
    a0,
    ['unreachable', 'not-ready'].map((key) => ({ operator: 'Exists', key: `node.kubernetes.io/${key}` })),
  );
  world.addPod('pod', a1, minute);
  world.start();
  world.failNext('patch', 'nodes', 'timeout', 3, true);
  await world.silentFor(51, a0);
  await world.silentFor(52, a1);
  assert.deepEqual(world.tainted([a0, a1]), [a0, a1]);
});
