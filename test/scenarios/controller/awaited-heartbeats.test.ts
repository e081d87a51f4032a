// What fails together becomes silent one after the other: a NoExecute taint waits until it is known which nodes failed with it.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { NodePolicy } from '../../../src/controller/model/policy.ts';
import { aPolicy, inZone } from '../../support/builders.ts';
import type { ControllerWorld } from '../../support/controller-world.ts';
import { explainNode } from '../../support/explained.ts';
import { aZonedWorld, names } from '../../support/zoned-world.ts';

/** The nodes stop; their last heartbeats are so many seconds apart. */
async function stopOneByOne(world: ControllerWorld, nodes: readonly string[], everyS: number): Promise<void> {
  world.goSilent(...nodes);
  for (const node of nodes) {
    world.renewOnce(node);
    await world.advance(everyS);
  }
}

const noExecute = (world: ControllerWorld, nodes: readonly string[]): readonly string[] =>
  nodes.filter((node) => world.taints(node).includes('unreachable:NoExecute'));

for (const everyS of [0.5, 2, 5]) {
  test(`three of five nodes of a zone fail, last heartbeats ${everyS} s apart: none is tainted NoExecute`, async () => {
    const failed = names(3, 'a-');
    await using world = aZonedWorld({ a: 5, b: 5 });
    await world.running(20);
    await stopOneByOne(world, failed, everyS);
    await world.advance(120);
    assert.deepEqual(
      failed.map((node) => world.ready(node)),
      ['Unknown', 'Unknown', 'Unknown'],
    );
    assert.deepEqual(noExecute(world, failed), []);
  });
}

test('two of five nodes fail: the zone is normal, both are tainted', async () => {
  const failed = names(2, 'a-');
  await using world = aZonedWorld({ a: 5, b: 5 });
  await world.running(20);
  await stopOneByOne(world, failed, 2);
  await world.advance(80);
  assert.deepEqual(noExecute(world, failed), failed);
});

test('nodes that send a heartbeat again did not fail with the silent one, which is tainted', async () => {
  await using world = aZonedWorld({ a: 5, b: 5 });
  await world.running(20);
  await stopOneByOne(world, names(3, 'a-'), 5);
  await world.advance(38);
  assert.deepEqual(
    [world.notReady(), noExecute(world, ['a-0'])],
    [['a-0'], []],
    'two others have sent no heartbeat since',
  );
  world.recover('a-1', 'a-2');
  await world.advance(12);
  assert.deepEqual([world.notReady(), noExecute(world, ['a-0'])], [['a-0'], ['a-0']]);
});

test('nodes of another zone change nothing', async () => {
  await using world = aZonedWorld({ a: 5, b: 5 });
  await world.running(20);
  await stopOneByOne(world, ['a-0', 'b-0', 'b-1', 'b-2'], 2);
  await world.advance(56);
  assert.deepEqual(noExecute(world, ['a-0', 'b-0', 'b-1', 'b-2']), ['a-0']);
});

test('nodes with a grace period of 12 s: none of three of five that fail is tainted NoExecute', async () => {
  const failed = names(3, 'a-');
  await using world = aZonedWorld({ a: 5, b: 5 }, { nodeMonitorGracePeriodMs: 12_000 });
  await world.running(20);
  await stopOneByOne(world, failed, 4);
  await world.advance(60);
  assert.deepEqual([world.notReady(), noExecute(world, failed)], [failed, []]);
});

test('nodes that renew every 10 s and every 60 s fail together: none is tainted NoExecute', async () => {
  const slow = aPolicy({
    name: 'slow',
    selector: [{ key: 'slow', operator: 'Exists' }],
    nodeMonitorGracePeriodMs: 180_000,
  });
  await using world = aZonedWorld({ a: 5, b: 5 }, { policies: [slow] });
  const [fast, ...others] = names(3, 'a-');
  for (const node of others) world.setLabels(node, { ...world.node(node).metadata.labels, slow: 'y' });
  await world.running(20);
  await renewingSlowly(world, others, 180);
  world.goSilent(fast ?? '');
  await world.advance(300);
  assert.deepEqual([world.notReady(), noExecute(world, names(3, 'a-'))], [names(3, 'a-'), []]);
});

/** They renew every 60 s, each at another time. */
async function renewingSlowly(world: ControllerWorld, nodes: readonly string[], forS: number): Promise<void> {
  world.goSilent(...nodes);
  for (let atS = 0; atS < forS; atS += 5) {
    for (const [place, node] of nodes.entries()) if ((atS - place * 15) % 60 === 0) world.renewOnce(node);
    await world.advance(5);
  }
}

test('a zone whose nodes renew every 60 s is not stopped: a silent node is tainted when its grace period ends', async () => {
  const edge = aPolicy({ name: 'edge', selector: inZone('a'), nodeMonitorGracePeriodMs: 180_000 });
  await using world = aZonedWorld({ a: 5, b: 5 }, { policies: [edge] });
  await world.running(20);
  world.goSilent('a-0');
  await renewingSlowly(world, names(5, 'a-').slice(1), 190);
  assert.deepEqual([world.notReady(), noExecute(world, ['a-0'])], [['a-0'], ['a-0']]);
});

test('nodes with short gaps between heartbeats cost the zone no token', async () => {
  await using world = aZonedWorld({ a: 5, b: 5 });
  const gapped = names(5, 'a-').slice(2);
  await world.running(20);
  world.goSilent(...gapped);
  for (let atS = 0; atS < 150; atS += 5) {
    for (const [place, node] of gapped.entries()) if ((atS + place * 10) % 30 === 0) world.renewOnce(node);
    if (atS === 60) world.goSilent('a-0', 'a-1');
    await world.advance(5);
  }
  assert.deepEqual(
    [world.notReady(), noExecute(world, ['a-0', 'a-1'])],
    [
      ['a-0', 'a-1'],
      ['a-0', 'a-1'],
    ],
  );
});

test('ready nodes in planned maintenance are no evidence', async () => {
  const maintenance = { conditions: ['M'], taints: [], maxDurationMs: 6_000_000 };
  const pool = aPolicy({ name: 'pool', selector: inZone('a'), nodeMonitorGracePeriodMs: undefined, maintenance });
  const long = [{ key: 'long', operator: 'Exists' }] as const;
  const patient = aPolicy({
    name: 'long',
    priority: 5,
    selector: long,
    nodeMonitorGracePeriodMs: 600_000,
    maintenance,
  });
  await using world = aZonedWorld({ a: 5, b: 5 }, { policies: [pool, patient] });
  for (const node of ['a-1', 'a-2']) world.setLabels(node, { ...world.node(node).metadata.labels, long: 'y' });
  await world.running(20);
  for (const node of ['a-1', 'a-2']) world.setCondition(node, 'M', 'True');
  await world.silentFor(10, 'a-1', 'a-2');
  await world.silentFor(55, 'a-0');
  assert.deepEqual([world.notReady(), noExecute(world, ['a-0'])], [['a-0'], ['a-0']]);
});

test('a new leader does not taint what waits, and taints it when the others have sent a heartbeat', async () => {
  await using world = aZonedWorld({ a: 5, b: 5 });
  await world.running(20);
  await stopOneByOne(world, names(3, 'a-'), 5);
  await world.advance(38);
  assert.deepEqual(world.notReady(), ['a-0']);
  await world.restart();
  await world.advance(9);
  assert.deepEqual(noExecute(world, ['a-0']), []);
  world.recover('a-1', 'a-2');
  await world.advance(2);
  assert.deepEqual(noExecute(world, ['a-0']), ['a-0']);
});

test('a node that reports itself as not ready waits for no other', async () => {
  await using world = aZonedWorld({ a: 5, b: 5 });
  await world.running(20);
  await stopOneByOne(world, names(3, 'a-').slice(1), 2);
  await world.advance(30);
  world.post('a-0', 'False');
  await world.advance(5);
  assert.deepEqual([world.notReady(), world.taints('a-0')], [['a-0'], ['not-ready:NoExecute', 'not-ready:NoSchedule']]);
});

test('a node whose silence cannot be confirmed delays the taint of another for a bounded time', async () => {
  await using world = aZonedWorld({ a: 5, b: 5 }, { leaseConfirmationHoldMs: Infinity });
  await world.running(20);
  for (const node of ['a-1', 'a-2']) world.unreadableLeases.add(node);
  await world.silentFor(360, ...names(3, 'a-'));
  assert.deepEqual([world.notReady(), noExecute(world, ['a-0'])], [['a-0'], ['a-0']]);
});

test('leases of nodes that failed with another cannot be read: none is tainted NoExecute', async () => {
  const failed = names(3, 'a-');
  await using world = aZonedWorld({ a: 5, b: 5 });
  await world.running(20);
  for (const node of failed.slice(1)) world.unreadableLeases.add(node);
  await stopOneByOne(world, failed, 4);
  await world.advance(200);
  assert.deepEqual([world.notReady(), noExecute(world, failed)], [failed, []]);
});

for (const answerS of [12, 25]) {
  test(`leases are read in ${answerS} s: none of three of five nodes that fail is tainted NoExecute`, async () => {
    const failed = names(3, 'a-');
    await using world = aZonedWorld({ a: 5, b: 5 });
    await world.running(20);
    world.answersAfterMs = answerS * 1_000;
    await stopOneByOne(world, failed, 4);
    await world.advance(150);
    assert.deepEqual([world.notReady(), noExecute(world, failed)], [failed, []]);
  });
}

for (const [gapMs, afterS] of [
  [0, 20],
  [1, 20],
  [20, 40],
  [1, 46],
  [20, 46],
] as const) {
  test(`a new process ${afterS} s after the failure, leases ${gapMs} ms apart: no failed node is tainted NoExecute`, async () => {
    const failed = names(3, 'a-');
    await using world = aZonedWorld({ a: 5, b: 5 });
    await world.running(20);
    await stopOneByOne(world, failed, 2.5);
    await world.advance(afterS - 2.5);
    await world.restartFilling(gapMs);
    await world.advance(130);
    assert.deepEqual([world.notReady(), noExecute(world, failed)], [failed, []]);
  });
}

const patientNodes = (graceMs: number): NodePolicy =>
  aPolicy({ name: 'edge', selector: [{ key: 'edge', operator: 'Exists' }], nodeMonitorGracePeriodMs: graceMs });

/** Nodes a-1 and a-2 of five have this grace period. */
function aWorldWithPatientNodes(graceMs: number): ControllerWorld {
  const world = aZonedWorld({ a: 5, b: 5 }, { policies: [patientNodes(graceMs)] });
  for (const node of ['a-1', 'a-2']) world.setLabels(node, { ...world.node(node).metadata.labels, edge: 'y' });
  return world;
}

test('nodes that stopped long before, with a grace period of a day, did not fail with the silent one', async () => {
  await using world = aWorldWithPatientNodes(86_400_000);
  await world.running(60);
  await world.silentFor(120, 'a-1', 'a-2');
  await world.silentFor(55, 'a-0');
  assert.deepEqual([world.notReady(), noExecute(world, ['a-0'])], [['a-0'], ['a-0']]);
});

for (const restarts of [false, true]) {
  test(`nodes with a grace period of a day fail with another${restarts ? ', before a restart' : ''}: it waits 5 min`, async () => {
    await using world = aWorldWithPatientNodes(86_400_000);
    await world.running(60);
    await world.silentFor(52, ...names(3, 'a-'));
    if (restarts) await world.restart();
    const awaited = explainNode(world, 'a-0').holds.find(({ kind }) => kind === 'awaited');
    assert.equal(awaited?.kind, 'awaited');
    await world.advance(296);
    assert.deepEqual(noExecute(world, ['a-0']), []);
    await world.advance(10);
    assert.deepEqual([world.notReady(), noExecute(world, ['a-0'])], [['a-0'], ['a-0']]);
  });
}

for (const restarts of [false, true]) {
  test(`one more renewal of an Unknown node${restarts ? ' after a restart' : ''} does not end its wait`, async () => {
    const failed = names(3, 'a-');
    await using world = aZonedWorld({ a: 5, b: 5 });
    await world.running(20);
    await stopOneByOne(world, failed, 4);
    await world.advance(39.5);
    assert.deepEqual(world.notReady(), ['a-0']);
    if (restarts) await world.restart();
    await world.advance(0.5);
    world.renewOnce('a-0');
    await world.advance(200);
    assert.deepEqual([world.notReady(), noExecute(world, failed)], [failed, []]);
  });
}

test('a node that renews its lease and never becomes Ready waits 5 min at most', async () => {
  await using world = aWorldWithPatientNodes(86_400_000);
  await world.running(60);
  await world.silentFor(52, ...names(3, 'a-'));
  for (let atS = 0; atS < 310; atS += 40) {
    world.renewOnce('a-0');
    await world.advance(40);
  }
  await world.advance(55);
  assert.deepEqual([world.notReady(), noExecute(world, ['a-0'])], [['a-0'], ['a-0']]);
});

test('a full disruption ends, and most nodes of a zone fail at once: none is tainted NoExecute', async () => {
  const nodes = names(5, 'b-');
  await using world = aZonedWorld({ a: 5, b: 5 });
  await world.running(60);
  await world.silentFor(70, ...names(5, 'a-'), ...nodes);
  world.recover(...names(5, 'a-'));
  for (const node of nodes) world.post(node, 'True');
  world.renewOnce(...nodes);
  await world.advance(2);
  assert.ok(world.kinds().includes('full-disruption-left'));
  world.renewing('b-3', 'b-4');
  world.renewOnce('b-1');
  await world.advance(2);
  world.renewOnce('b-2');
  await world.advance(150);
  assert.deepEqual([world.notReady(), noExecute(world, nodes)], [names(3, 'b-'), []]);
});

test('explain: a node that reports itself as not ready waits for none', async () => {
  await using world = aWorldWithPatientNodes(180_000);
  await world.running(20);
  await world.silentFor(1, ...names(3, 'a-'));
  world.post('a-0', 'False');
  await world.advance(14);
  assert.deepEqual(noExecute(world, names(3, 'a-')), []);
  assert.deepEqual(explainNode(world, 'a-0').holds, []);
});

test('explain names the nodes that the taint waits for, before and after the node is Unknown', async () => {
  await using world = aZonedWorld({ a: 5, b: 5 });
  await world.running(20);
  await stopOneByOne(world, names(3, 'a-'), 4);
  await world.advance(33);
  const pages = [];
  for (const [ready, advanceS] of [
    ['True', 6],
    ['Unknown', 100],
  ] as const) {
    assert.equal(world.ready('a-0'), ready);
    pages.push(explainNode(world, 'a-0'));
    await world.advance(advanceS);
  }
  for (const { holds, noExecuteTaint } of pages) {
    const awaited = holds.find(({ kind }) => kind === 'awaited');
    assert.deepEqual(awaited?.kind === 'awaited' ? [awaited.nodes, awaited.count] : undefined, [['a-1', 'a-2'], 2]);
    assert.equal(noExecuteTaint?.when.at, null);
  }
  assert.deepEqual(noExecute(world, names(3, 'a-')), [], 'and so it happens');
  assert.deepEqual(
    explainNode(world, 'a-0').holds.map(({ kind }) => kind),
    ['zone-stopped'],
  );
});

test('eviction mode: no pod of three of five nodes that fail is deleted, and that of one node is', async () => {
  for (const [failed, expected] of [
    [names(3, 'a-'), []],
    [['a-0'], ['a-0-pod']],
  ] as const) {
    await using world = aZonedWorld({ a: 5, b: 5 }, { taintBasedEvictions: false, podEvictionTimeoutMs: 1_000 });
    for (const node of failed) world.addPod(`${node}-pod`, node);
    await world.running(20);
    await stopOneByOne(world, failed, 4);
    await world.advance(100);
    assert.deepEqual([world.notReady(), world.evicted()], [failed, expected]);
  }
});
