// Beyond the limit of a policy nodes are emptied one by one, if it says so, and none of them starves.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { NodePolicy, PolicyLimits, PolicyMode } from '../../../src/controller/model/policy.ts';
import { describeNodeOutlook } from '../../../src/controller/report/text/describe-outlooks.ts';
import { outOfServiceLabel } from '../../../src/machinery/api/topology.ts';
import { aPolicy, inZone } from '../../support/builders.ts';
import type { ControllerWorld } from '../../support/controller-world.ts';
import { explainNode } from '../../support/explained.ts';
import { aZonedWorld, names } from '../../support/zoned-world.ts';

const limits: PolicyLimits = {
  maxUnhealthy: { percent: undefined, count: 1 },
  cooldownMs: 300_000,
  resetAtMs: undefined,
  overflow: { ratePerHour: 120 },
};
const silent = names(4, 'a-');

/** Of twelve nodes four become silent, ten seconds after each other; each has a pod. */
async function aWorld(given: PolicyLimits = limits): Promise<ControllerWorld> {
  const world = aZonedWorld({ a: 12 }, { policies: [aPolicy({ name: 'pool', limits: given })], nodeEvictionRate: 10 });
  for (const node of silent) world.addPod(`p-${node}`, node);
  await world.running(20);
  for (const node of silent) await world.silentFor(10, node);
  return world;
}

const taintedAt = (world: ControllerWorld): readonly (number | undefined)[] =>
  silent.map((node) => {
    return world.writes.find(({ name, body }) => name === node && JSON.stringify(body).includes('NoExecute'))
      ?.atSeconds;
  });

test('one node is emptied at each interval, the longest unhealthy one first', async () => {
  await using world = await aWorld();
  await world.advance(30);
  const [first, ...others] = taintedAt(world);
  assert.ok(first !== undefined, 'the first node is within the limit');
  assert.deepEqual(others, [undefined, undefined, undefined]);
  await world.advance(140);
  const at = taintedAt(world);
  assert.deepEqual(
    world.evicted(),
    silent.map((node) => `p-${node}`),
  );
  // The breaker opens with the second node. The first one is empty by then, and takes no place of the others.
  const [, second = NaN, third = NaN, fourth = NaN] = at;
  const gaps = [second - first - 10, third - second, fourth - third];
  for (const [index, wanted] of [30, 30, 30].entries())
    assert.ok(Math.abs((gaps[index] ?? NaN) - wanted) <= 6, gaps.join(' '));
  assert.equal(world.decided('overflow-admitted').length, 4);
});

test('without it none is', async () => {
  const { overflow: _, ...stopped } = limits;
  await using world = await aWorld(stopped);
  await world.advance(600);
  assert.equal(taintedAt(world).filter((at) => at !== undefined).length, 1);
});

test('time in which no node waits does not add up, and a node that recovers loses its place', async () => {
  await using world = await aWorld();
  await world.advance(600);
  assert.equal(world.evicted().length, 4);
  await world.silentFor(0, 'a-8', 'a-9');
  await world.advance(61);
  const added = (): number => world.decided('overflow-admitted').length - 4;
  assert.equal(added(), 1, 'one at once, as its time has come');
  world.recover('a-8', 'a-9');
  await world.advance(100);
  assert.equal(added() <= 2, true);
});

test('a policy that is removed and comes back begins again: no node keeps its place', async () => {
  await using world = await aWorld();
  await world.advance(90);
  const admitted = (): number => world.decided('overflow-admitted').length;
  const before = admitted();
  assert.ok(before >= 1);
  world.changeOptions({ policies: [] });
  await world.advance(0.1);
  world.changeOptions({ policies: [aPolicy({ name: 'pool', limits })] });
  await world.advance(20);
  const [pool] = world.lifecycle.stages.policies.inForce();
  assert.deepEqual([pool?.breaker?.overflow?.nodes, admitted()], [0, before]);
});

for (const [order, first] of [
  ['severity', 'a-2'],
  ['age', 'a-1'],
] as const)
  test(`order ${order}: of a node that reports Ready=False and silent ones ${first} is the next one`, async () => {
    await using world = aZonedWorld(
      { a: 12 },
      {
        policies: [aPolicy({ name: 'pool', limits: { ...limits, overflow: { ratePerHour: 120, order } } })],
        nodeEvictionRate: 10,
      },
    );
    await world.running(20);
    await world.silentFor(60, 'a-0');
    world.post('a-1', 'False');
    await world.advance(5);
    await world.silentFor(75, 'a-2');
    // The first place is that of a-0, which is within the limit.
    await world.advance(20);
    const next = world.decided('overflow-admitted').map(({ node }) => node);
    assert.deepEqual(next.filter((node) => node !== 'a-0').slice(0, 1), [first]);
  });

test('the nodes beyond the limit are counted while the breaker is open', async () => {
  await using world = await aWorld();
  const shown = (): number | undefined => world.meter.read().get('node_lifecycle_policy_overflow_nodes{policy="pool"}');
  await world.advance(30);
  assert.equal(shown(), world.decided('overflow-admitted').length);
  world.recover(...silent);
  await world.advance(330);
  assert.equal(shown(), undefined);
});

test('the next place is explained', async () => {
  await using world = await aWorld();
  await world.advance(30);
  const page = describeNodeOutlook(explainNode(world, 'a-3'));
  assert.match(page, /held {7}the breaker of policy pool is open/u);
  assert.match(page, /or it is the next one that limits\.overflow empties, in about \d+s \(.*\) for one of them/u);
});

const patient = ['unreachable', 'not-ready'].map((name) => {
  return { key: `node.kubernetes.io/${name}`, operator: 'Exists', tolerationSeconds: 600 };
});

/** As above, with pods that tolerate the taint for ten minutes; at most so many nodes are emptied at once. */
async function aWorldWithPlaces(maxConcurrentEvictions: number): Promise<ControllerWorld> {
  const world = aZonedWorld(
    { a: 12 },
    { policies: [aPolicy({ name: 'pool', limits, maxConcurrentEvictions })], nodeEvictionRate: 10 },
  );
  for (const node of silent) world.addPod(`p-${node}`, node, patient);
  await world.running(20);
  await world.silentFor(60, ...silent);
  return world;
}

test('an admitted node waits for a place of maxConcurrentEvictions, and gets it', async () => {
  await using world = await aWorldWithPlaces(1);
  await world.advance(70);
  assert.equal(world.tainted(silent).length, 1, 'two were admitted, and one of them is being emptied');
  const [first = ''] = world.tainted(silent);
  world.removePod(`p-${first}`);
  world.recover(first);
  await world.advance(40);
  const others = world.tainted(silent).filter((node) => node !== first);
  assert.equal(others.length, 1);
});

test('a reset frees all at once, and the next opening begins with an interval', async () => {
  await using world = await aWorldWithPlaces(12);
  assert.ok(world.tainted(silent).length <= 1);
  const reset = { ...limits, resetAtMs: world.clock.nowMs() };
  world.changeOptions({ policies: [aPolicy({ name: 'pool', limits: reset, maxConcurrentEvictions: 12 })] });
  await world.advance(5);
  assert.deepEqual(world.tainted(silent), silent);
  const admitted = world.decided('overflow-admitted').length;
  await world.silentFor(75, 'a-8', 'a-9', 'a-10');
  assert.equal(world.decided('overflow-admitted').length - admitted, 0, 'open for less than an interval');
  await world.advance(40);
  assert.ok(world.decided('overflow-admitted').length - admitted >= 1);
});

test('a new leader admits none before an interval has passed, and goes on then', async () => {
  await using world = await aWorldWithPlaces(12);
  await world.advance(10);
  const before = world.tainted(silent).length;
  const restartedAt = world.writes.length;
  await world.restart();
  await world.advance(25);
  const tainted = (): number =>
    world.writes.slice(restartedAt).filter(({ body }) => JSON.stringify(body).includes('NoExecute')).length;
  assert.equal(tainted(), 0);
  await world.advance(120);
  assert.ok(world.tainted(silent).length >= before + 2, world.tainted(silent).join(' '));
});

test('time in which something else holds all nodes adds up to no more than one place', async () => {
  const detects = (mode: PolicyMode): readonly NodePolicy[] => [aPolicy({ name: 'pool', limits, mode })];
  await using world = aZonedWorld({ a: 12 }, { policies: detects('Detect'), nodeEvictionRate: 10 });
  for (const node of silent) world.addPod(`p-${node}`, node);
  await world.running(20);
  await world.silentFor(200, ...silent);
  assert.deepEqual(world.tainted(silent), []);
  assert.equal(world.decided('overflow-admitted').length, 0);
  world.changeOptions({ policies: detects('Enforce') });
  await world.advance(20);
  assert.equal(world.tainted(silent).length, 1);
  await world.advance(30);
  assert.equal(world.tainted(silent).length, 2);
});

test('a node that something else holds does not take the place of another', async () => {
  const vetoes = { of: ['karpenter' as const], labels: [], taints: [], maxDurationMs: 3_600_000 };
  const policy = aPolicy({
    name: 'pool',
    limits: { ...limits, maxUnhealthy: { percent: undefined, count: 0 } },
    vetoes,
  });
  await using world = aZonedWorld({ a: 12 }, { policies: [policy], nodeEvictionRate: 10 });
  for (const node of silent) world.addPod(`p-${node}`, node);
  await world.running(20);
  const [first = '', second = ''] = silent;
  world.annotate(first, 'karpenter.sh/do-not-repair', 'true');
  await world.silentFor(10, first);
  await world.silentFor(80, second);
  assert.deepEqual(world.tainted(silent), [second]);
});

test('a new leader goes on with the nodes that are not empty yet', async () => {
  await using world = await aWorld();
  await world.advance(90);
  const emptied = world.evicted().length;
  assert.ok(emptied >= 2 && emptied < silent.length, String(emptied));
  await world.restart();
  await world.advance(45);
  assert.equal(world.evicted().length, emptied + 1);
});

test('a node that is being emptied, which reports Ready=False, gives its place before silent nodes wait for it', async () => {
  await using world = aZonedWorld(
    { a: 12 },
    { policies: [aPolicy({ name: 'pool', limits, maxConcurrentEvictions: 1 })], nodeEvictionRate: 10 },
  );
  for (const node of silent) world.addPod(`p-${node}`, node, patient);
  await world.running(20);
  const [first = '', ...others] = silent;
  world.post(first, 'False');
  await world.advance(10);
  assert.ok(world.taints(first).includes('not-ready:NoExecute'));
  await world.silentFor(100, ...others);
  assert.deepEqual(
    world.decided('overflow-admitted').map(({ node }) => node),
    [first],
  );
});

test('pods that never end and wait for out-of-service do not wait for all nodes that fail later', async () => {
  const shutdown = { key: 'node.cloudprovider.kubernetes.io/shutdown', effect: 'NoSchedule' };
  const outOfService = { conditions: [], taints: [shutdown.key] };
  const policies = [aPolicy({ name: 'pool', limits, outOfService })];
  await using world = aZonedWorld({ a: 60 }, { policies, nodeEvictionRate: 10, unhealthyZoneThreshold: 1 });
  const failing = names(20, 'a-');
  for (const node of failing) world.addPod(`p-${node}`, node);
  await world.running(20);
  const [fenced = '', ...others] = failing;
  world.setLabels(fenced, { ...world.node(fenced).metadata.labels, [outOfServiceLabel]: 'allowed' });
  await world.silentFor(60, fenced);
  assert.deepEqual(world.evicted(), [`p-${fenced}`]);
  await world.silentFor(60, ...others.slice(0, 2));
  world.setTaints(fenced, [...(world.node(fenced).spec?.taints ?? []), shutdown]);
  for (const node of others.slice(2, 6)) await world.silentFor(28, node);
  assert.ok(
    world.taints(fenced).some((taint) => taint.includes('out-of-service')),
    world.taints(fenced).join(' '),
  );
});

test('of two policies with places the faster one does not give any that the slower one holds', async () => {
  const of = (ratePerHour: number, count: number): PolicyLimits => ({
    ...limits,
    maxUnhealthy: { percent: undefined, count },
    cooldownMs: 60_000,
    overflow: { ratePerHour },
  });
  const policies = [
    aPolicy({ name: 'pool', limits: of(120, 0), selector: inZone('a') }),
    aPolicy({ name: 'guard', isGuard: true, limits: of(6, 12), selector: inZone('a', 'b') }),
  ];
  await using world = aZonedWorld({ a: 30, b: 30 }, { policies, nodeEvictionRate: 10, unhealthyZoneThreshold: 1 });
  const [inA, inB] = [names(12, 'a-'), names(6, 'b-')];
  for (const node of [...inA, ...inB]) world.addPod(`p-${node}`, node);
  await world.running(20);
  world.goSilent(...inB);
  await world.silentFor(570, ...inA);
  assert.deepEqual(world.tainted(inA), [], 'the first place of guard comes after ten minutes');
  world.recover(...inB);
  await world.advance(65);
  assert.deepEqual(
    world.decided('breaker-closed').map(({ policy }) => policy),
    ['guard'],
  );
  await world.advance(20);
  assert.equal(world.tainted(inA).length, 1);
  await world.advance(60);
  assert.ok(world.tainted(inA).length >= 2 && world.tainted(inA).length <= 4, world.tainted(inA).join(' '));
});

test('a place ends with the failure that got it: neither a new node of the name nor a later failure has it', async () => {
  for (const comesBack of ['recreated', 'recovered'] as const) {
    await using world = await aWorld();
    await world.advance(60);
    const admitted = world.decided('overflow-admitted').map(({ node }) => node);
    const [node = ''] = admitted;
    assert.ok(node !== '' && admitted.length < 4, `of ${admitted.join(' ')} not the last one`);
    if (comesBack === 'recreated') {
      world.removeNode(node);
      world.addNode(node, { zone: 'a' });
    } else world.post(node, 'True');
    world.post(node, 'False');
    world.addPod('fresh', node);
    await world.advance(8);
    assert.deepEqual([comesBack, world.evicted().includes('fresh')], [comesBack, false]);
  }
});

test('of two open breakers that one is explained which gave the node no place', async () => {
  const of = (ratePerHour: number): PolicyLimits => ({ ...limits, overflow: { ratePerHour } });
  const policies = [
    aPolicy({ name: 'pool', limits: of(6) }),
    aPolicy({ name: 'guard', isGuard: true, limits: of(13), selector: inZone('a') }),
  ];
  await using world = aZonedWorld({ a: 12 }, { policies, nodeEvictionRate: 10, unhealthyZoneThreshold: 1 });
  for (const node of silent) world.addPod(`p-${node}`, node);
  await world.running(20);
  world.goSilent(...silent);
  for (let seconds = 0; world.decided('overflow-admitted').length === 0; seconds += 1) {
    assert.ok(seconds < 900, 'a node gets a place');
    await world.advance(1);
  }
  const [first] = world.decided('overflow-admitted');
  assert.equal(first?.policy, 'pool', 'it gives fewer places');
  const text = describeNodeOutlook(explainNode(world, first?.node ?? ''));
  assert.match(text, /held +the breaker of policy guard is open/);
});
