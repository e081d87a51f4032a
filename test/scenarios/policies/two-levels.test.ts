// Zones of a policy with an outer zone: a NoExecute taint needs the permission and a token of both.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { describeNodeOutlook } from '../../../src/controller/report/text/describe-outlooks.ts';
import type { ControllerOptions } from '../../../src/controller/model/options.ts';
import type { PolicyZones } from '../../../src/controller/model/policy.ts';
import { aPolicy, inZone } from '../../support/builders.ts';
import type { ControllerWorld } from '../../support/controller-world.ts';
import { explainNode, snapshotOf } from '../../support/explained.ts';
import { aZonedWorld, names } from '../../support/zoned-world.ts';

const rack = 'example.com/rack';
const hall = 'topology.kubernetes.io/zone';
const twoLevels: PolicyZones = { failureDomain: [rack], outerFailureDomain: [hall], settings: {} };
const oneLevel: PolicyZones = { failureDomain: [rack], settings: {} };

function policyOf(zones: PolicyZones): ReturnType<typeof aPolicy> {
  return aPolicy({ name: 'metal', selector: inZone('a', 'c'), zones });
}

/** Zone `a` has three racks of four nodes, and zone `c` one of the name of another; zone `b` is in no policy. */
function aWorld(zones: PolicyZones, options: Partial<ControllerOptions> = {}): ControllerWorld {
  const world = aZonedWorld({ a: 12, b: 6, c: 4 }, { policies: [policyOf(zones)], ...options });
  for (const zone of ['a', 'c'])
    for (const [place, name] of names(zone === 'a' ? 12 : 4, `${zone}-`).entries())
      world.setLabels(name, { ...world.node(name).metadata.labels, [rack]: `r${1 + Math.floor(place / 4)}` });
  return world;
}

/** Seconds at which each of these nodes got its NoExecute taint, in order. */
function taintedAt(world: ControllerWorld): readonly (readonly [string, number])[] {
  return world.writes.flatMap(({ name, body, atSeconds }) => {
    const { taints } =
      (body as { readonly spec?: { readonly taints?: readonly { effect: string }[] | null } }).spec ?? {};
    return taints?.some(({ effect }) => effect === 'NoExecute') === true ? [[name, atSeconds] as const] : [];
  });
}

test('nodes count in their rack and in the hall around it, and racks of one name in two halls are two', async () => {
  await using world = aWorld(twoLevels).start();
  await world.advance(5);
  const { zones } = world.lifecycle.stages;
  assert.deepEqual(zones.zones(), ['metal:a:r1', 'metal:a:r2', 'metal:a:r3', 'metal:c:r1', 'r/b']);
  assert.equal(zones.plan('metal:a:*')?.why.ready, 12);
  assert.equal(zones.plan('metal:c:*')?.why.ready, 4);
  assert.equal(world.meter.read().get('node_collector_zone_size{zone="metal:a:*"}'), 12);
});

test('a disrupted hall stops the taints of a rack that is normal itself', async () => {
  for (const [zones, expected] of [
    [oneLevel, true],
    [twoLevels, false],
  ] as const) {
    await using world = aWorld(zones, { nodeEvictionRate: 10, controlPlanePathFailureHoldMs: 0 }).start();
    await world.silentFor(80, ...names(7, 'a-'), 'a-8');
    assert.equal(world.tainted(['a-8']).length === 1, expected, JSON.stringify(zones));
  }
});

test('a stop is recorded once with the numbers of the hall, and ends when enough of its nodes are back', async () => {
  await using world = aWorld(twoLevels, { nodeEvictionRate: 10, controlPlanePathFailureHoldMs: 0 }).start();
  await world.silentFor(80, ...names(7, 'a-'), 'a-8');
  const [held, ...more] = world.decided('taints-held').filter(({ zone }) => zone === 'metal:a:*');
  assert.deepEqual([held?.why.unready, more], [8, []]);
  assert.ok((held?.waiting ?? 0) > 4, 'more than wait in one rack');
  assert.equal(world.meter.read().get('node_lifecycle_taint_queue_depth{zone="metal:a:*"}'), 8);
  world.recover(...names(4, 'a-'));
  await world.advance(10);
  assert.deepEqual(world.tainted(names(12, 'a-')), ['a-8'], 'rack r2 is still disrupted, the hall is not');
});

test('one token of the hall is for all of its racks, which are served in turn', async () => {
  await using world = aWorld(twoLevels).start();
  await world.silentFor(110, 'a-0', 'a-1', 'a-4', 'a-8', 'b-0', 'c-0');
  const inHall = taintedAt(world).filter(([name]) => name.startsWith('a'));
  assert.deepEqual(
    inHall.map(([name]) => name),
    ['a-0', 'a-4', 'a-8', 'a-1'],
  );
  for (const [place, [, atSeconds]] of inHall.entries())
    assert.ok(place === 0 || atSeconds - (inHall[place - 1]?.[1] ?? 0) >= 9.999, JSON.stringify(inHall));
  assert.deepEqual(world.tainted(['b-0', 'c-0']), ['b-0', 'c-0']);
});

test('a new leader hands out no token of the hall', async () => {
  await using world = aWorld(twoLevels, { nodeEvictionRate: 0.02 }).start();
  await world.silentFor(60, 'a-0', 'a-4');
  assert.deepEqual(world.tainted(['a-0', 'a-4']), ['a-0']);
  await world.restart();
  await world.advance(30);
  assert.deepEqual(world.tainted(['a-0', 'a-4']), ['a-0'], 'the bucket of rack r2 is full, that of the hall is not');
  await world.advance(30);
  const [[, first] = ['', 0], [, second] = ['', 0]] = taintedAt(world);
  assert.ok(second - first >= 49, `${second - first} s`);
});

test('a write that is refused returns the tokens of both levels', async () => {
  await using world = aWorld(twoLevels, { nodeEvictionRate: 0.001 }).start();
  await world.advance(5);
  world.goSilent('a-0');
  await world.advance(48);
  world.failNext('patch', 'nodes', 'forbidden', 3);
  await world.advance(20);
  assert.deepEqual(world.tainted(['a-0']), ['a-0'], 'the second attempt needs no further token');
});

test('explain shows the arithmetic of both levels and predicts the slot', async () => {
  await using world = aWorld(twoLevels, { nodeEvictionRate: 0.02 }).start();
  await world.silentFor(53, 'a-0', 'a-4', 'a-8');
  const waiting = ['a-4', 'a-8'].filter((name) => !world.tainted([name]).includes(name));
  assert.equal(waiting.length, 2);
  const text = describeNodeOutlook(explainNode(world, 'a-4'));
  assert.match(text, /zone {7}metal:a:r2: 1\/4 not ready = 0\.25 < 0\.55 -> normal -> rate 0\.02\n/);
  assert.match(
    text,
    /zone {7}metal:a:\*: 3\/12 not ready = 0\.25 < 0\.55 -> normal -> rate 0\.02; both zones must allow/,
  );
  const predicted = ['a-4', 'a-8'].map((name) => explainNode(world, name).noExecuteTaint?.when.inSeconds ?? NaN);
  const fromS = world.seconds();
  await world.advance(120);
  const later = taintedAt(world).slice(1);
  for (const [place, [, atSeconds]] of later.entries())
    assert.ok(atSeconds - fromS <= Math.max(...predicted) + 1, `${place}`);
  assert.ok(Math.abs((later[0]?.[1] ?? 0) - fromS - Math.min(...predicted)) <= 51, 'one of the two is the first');
  assert.deepEqual(
    snapshotOf(world)
      .zones()
      .map(({ zone }) => zone),
    ['metal:a:*', 'metal:a:r1', 'metal:a:r2', 'metal:a:r3', 'metal:c:*', 'metal:c:r1', 'r/b'],
  );
});

test('explain names the level that stops a node', async () => {
  await using world = aWorld(twoLevels, { controlPlanePathFailureHoldMs: 0 }).start();
  await world.silentFor(80, ...names(7, 'a-'), 'a-8');
  const { holds, noExecuteTaint } = explainNode(world, 'a-8');
  assert.deepEqual(
    holds.flatMap((hold) => (hold.kind === 'zone-stopped' ? [hold.zone] : [])),
    ['metal:a:*'],
  );
  assert.equal(noExecuteTaint?.when.at, null);
});

test('eviction mode: the pods of one node of the hall are deleted at a time', async () => {
  const options = { taintBasedEvictions: false, podEvictionTimeoutMs: 10_000 };
  await using world = aWorld(twoLevels, options).start();
  const nodes = ['a-0', 'a-1', 'a-4', 'a-8'];
  for (const name of [...nodes, 'b-0']) world.addPod(`pod-${name}`, name);
  await world.silentFor(120, ...nodes, 'b-0');
  const times = nodes.map((name) => world.evictedAtSeconds(`pod-${name}`) ?? NaN).sort((x, y) => x - y);
  for (const [place, atSeconds] of times.entries())
    assert.ok(place === 0 || atSeconds - (times[place - 1] ?? 0) >= 9.999, times.join(' '));
  assert.ok(
    Math.abs((world.evictedAtSeconds('pod-b-0') ?? NaN) - (times[0] ?? 0)) < 1,
    'another zone is not concerned',
  );
});

test('live: an outer level is added and removed, and no node that waits is lost', async () => {
  await using world = aWorld(oneLevel, { nodeEvictionRate: 0.01 }).start();
  await world.silentFor(60, 'a-0', 'a-1', 'a-4', 'a-5');
  world.changeOptions({ policies: [policyOf({ ...twoLevels, settings: { nodeEvictionRate: 1 } })] });
  await world.advance(10);
  assert.deepEqual(world.tainted(names(12, 'a-')), ['a-0', 'a-1', 'a-4', 'a-5']);
  world.changeOptions({ policies: [] });
  world.recover('a-0', 'a-1', 'a-4', 'a-5');
  await world.advance(30);
  assert.deepEqual(world.lifecycle.stages.zones.zonesOfAllLevels(), ['r/a', 'r/b', 'r/c']);
  assert.deepEqual(world.tainted(names(12, 'a-')), []);
  const left = [...world.meter.read().keys()].filter((series) => series.includes('metal:'));
  assert.deepEqual(
    left.filter((series) => !series.startsWith('node_collector_evictions_total')),
    [],
  );
  assert.equal(world.meter.read().get('node_collector_evictions_total{zone="metal:a:*"}'), 2, 'of all its zones');
});
