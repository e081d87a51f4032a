// Zones of a policy: counted, rated and served apart from the other nodes.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { PolicyZones } from '../../../src/controller/model/policy.ts';
import { aPolicy, inZone } from '../../support/builders.ts';
import type { ControllerWorld } from '../../support/controller-world.ts';
import { explainNode } from '../../support/explained.ts';
import { aZonedWorld, names } from '../../support/zoned-world.ts';

const rack = 'example.com/rack';

function policyOf(zones: Partial<PolicyZones>, ...inZones: readonly string[]): ReturnType<typeof aPolicy> {
  return aPolicy({
    name: 'racks',
    selector: inZone(...inZones),
    zones: { failureDomain: undefined, settings: {}, ...zones },
  });
}

/** Nodes `a-0` to `a-3` are in rack r1, the next four in rack r2, and so on. */
function inRacks(world: ControllerWorld, zone: string, count: number): ControllerWorld {
  for (const [place, name] of names(count, `${zone}-`).entries())
    world.setLabels(name, { ...world.node(name).metadata.labels, [rack]: `r${1 + Math.floor(place / 4)}` });
  return world;
}

function condition(world: ControllerWorld, zone: string): string {
  return world.lifecycle.stages.zones.condition(zone);
}

test('a lost rack is disrupted by itself, and the others of its zone stay normal and are served', async () => {
  const policies = [policyOf({ failureDomain: [rack] }, 'a')];
  await using world = inRacks(aZonedWorld({ a: 12, b: 6 }, { policies }), 'a', 12).start();
  assert.deepEqual(world.lifecycle.stages.zones.zones(), ['r/b', 'racks:r1', 'racks:r2', 'racks:r3']);
  await world.silentFor(70, ...names(3, 'a-'), 'a-4');
  assert.equal(condition(world, 'racks:r1'), 'partially-disrupted');
  assert.equal(condition(world, 'racks:r2'), 'normal');
  assert.deepEqual(world.tainted(names(12, 'a-')), ['a-4'], 'a small disrupted zone is stopped');
  const { zone } = explainNode(world, 'a-0');
  assert.equal(zone.zone, 'racks:r1');
  await world.advance(300);
  assert.deepEqual(world.tainted(names(12, 'a-')), ['a-4']);
});

test('without the policy the same loss is no disruption of the zone', async () => {
  await using world = inRacks(aZonedWorld({ a: 12, b: 6 }), 'a', 12).start();
  await world.silentFor(120, ...names(3, 'a-'), 'a-4');
  assert.deepEqual(world.tainted(names(12, 'a-')), ['a-0', 'a-1', 'a-2', 'a-4']);
});

test('rates and thresholds of the policy apply to its zones only', async () => {
  const settings = { nodeEvictionRate: 10, unhealthyZoneThreshold: 1 };
  const policies = [policyOf({ settings }, 'a')];
  await using world = aZonedWorld({ a: 6, b: 6 }, { policies, nodeEvictionRate: 0.01 }).start();
  await world.silentFor(60, ...names(4, 'a-'), 'b-0', 'b-1');
  assert.equal(condition(world, 'racks:r/a'), 'normal', '4 of 6 are below the threshold of 1');
  assert.deepEqual(world.tainted(names(6, 'a-')), names(4, 'a-'), 'at ten per second');
  assert.equal(world.tainted(names(6, 'b-')).length, 1, 'at one in 100 s');
});

test('live: a policy gets zones and loses them, nodes move, and no node that waits is lost', async () => {
  await using world = inRacks(aZonedWorld({ a: 8, b: 6 }, { nodeEvictionRate: 0.01 }), 'a', 8).start();
  await world.silentFor(60, 'a-0', 'a-4', 'a-5');
  assert.equal(world.tainted(names(8, 'a-')).length, 1);
  world.changeOptions({ policies: [policyOf({ failureDomain: [rack], settings: { nodeEvictionRate: 1 } }, 'a')] });
  await world.advance(10);
  assert.deepEqual(world.lifecycle.stages.zones.zones(), ['r/b', 'racks:r1', 'racks:r2']);
  assert.deepEqual(world.tainted(names(8, 'a-')), ['a-0', 'a-4', 'a-5'], 'at the rate of the policy');
  world.changeOptions({ policies: [] });
  world.recover('a-0', 'a-4', 'a-5');
  await world.advance(20);
  assert.deepEqual(world.lifecycle.stages.zones.zones(), ['r/a', 'r/b']);
  assert.deepEqual(world.tainted(names(8, 'a-')), []);
  assert.equal(world.meter.read().get('node_collector_zone_size{zone="racks:r1"}'), undefined);
});

test('a node that moves to another rack is counted and served there', async () => {
  const policies = [policyOf({ failureDomain: [rack], settings: { nodeEvictionRate: 0.01 } }, 'a')];
  await using world = inRacks(aZonedWorld({ a: 8, b: 6 }, { policies }), 'a', 8).start();
  await world.silentFor(60, 'a-0', 'a-1');
  assert.equal(world.tainted(names(8, 'a-')).length, 1);
  const waiting = names(2, 'a-').find((name) => !world.tainted(names(2, 'a-')).includes(name)) ?? '';
  world.setLabels(waiting, { ...world.node(waiting).metadata.labels, [rack]: 'r2' });
  await world.advance(5);
  assert.deepEqual(world.tainted(names(2, 'a-')), names(2, 'a-'), 'r2 had a token');
});

test('all nodes silent is a full disruption, also where policies have zones', async () => {
  const policies = [policyOf({ failureDomain: [rack] }, 'a')];
  await using world = inRacks(aZonedWorld({ a: 8, b: 6 }, { policies }), 'a', 8).start();
  await world.silentFor(120, ...names(8, 'a-'), ...names(6, 'b-'));
  assert.equal(world.lifecycle.stages.zones.fullDisruption, true);
  assert.deepEqual(world.tainted([...names(8, 'a-'), ...names(6, 'b-')]), []);
});

test('the pods of silent nodes are marked at the rate of the policy', async () => {
  const policies = [policyOf({ settings: { podMarkingRate: 0.02 } }, 'a')];
  await using world = aZonedWorld({ a: 8, b: 8 }, { policies }).start();
  for (const name of ['a-0', 'a-1', 'b-0', 'b-1']) world.addPod(`pod-${name}`, name);
  await world.silentFor(60, 'a-0', 'a-1', 'b-0', 'b-1');
  const marked = ['a-0', 'a-1', 'b-0', 'b-1'].filter((name) => world.podReady(`pod-${name}`) === 'False');
  assert.equal(marked.filter((name) => name.startsWith('a')).length, 1);
  assert.equal(marked.filter((name) => name.startsWith('b')).length, 2);
});

const labelsOf = (zone: string, extra: object = {}): Record<string, string> => ({
  'topology.kubernetes.io/region': 'r',
  'topology.kubernetes.io/zone': zone,
  ...extra,
});

for (const [title, policies, other, before, after] of [
  ['by its labels', [], 'r/b', labelsOf('a'), labelsOf('b')],
  [
    'of a policy',
    [aPolicy({ name: 'metal', zones: { failureDomain: ['rack'], settings: {} } })],
    'metal:r2',
    labelsOf('a', { rack: 'r1' }),
    labelsOf('a', { rack: 'r2' }),
  ],
] as const) {
  test(`silent nodes that come into another zone ${title} are counted there before one is tainted`, async () => {
    const [silent, staying] = [names(4, 'a-'), names(3, 'b-')];
    await using world = aZonedWorld({ a: 6, b: 3, c: 3 }, { policies });
    for (const node of names(6, 'a-')) world.setLabels(node, before);
    for (const node of staying) world.setLabels(node, title === 'by its labels' ? labelsOf('b') : after);
    for (const node of silent) world.addPod(`pod-${node}`, node);
    await world.start().advance(1);
    await world.silentFor(400, ...silent);
    assert.deepEqual(world.tainted(silent), [], '4 of 6 are not ready');
    await world.clock.advance(1_500);
    for (const node of silent) world.setLabels(node, after);
    await world.advance(60);
    assert.equal(world.lifecycle.stages.zones.plan(other)?.ratePerSecond, 0, '4 of 7 are not ready');
    assert.deepEqual(world.tainted(silent), []);
    assert.deepEqual(world.evicted(), []);
  });
}
