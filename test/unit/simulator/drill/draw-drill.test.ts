import assert from 'node:assert/strict';
import { test } from 'node:test';
import { SeededRandom } from '../../../../src/hollow-cluster/kubelet/faults/seeded-random.ts';
import { drawDrill } from '../../../simulator/drill/draw-drill.ts';
import { type DrillCluster, planDrill } from '../../../simulator/drill/drill-plan.ts';
import { regressionSeeds, seedsBefore } from '../../../simulator/regression-seeds.ts';

const cluster: DrillCluster = {
  nodes: Array.from({ length: 9 }, (_, index) => ({ name: `n${index}`, zone: ['a', 'b', 'c'][index % 3] ?? 'a' })),
  withPods: new Set(['n1']),
  silentIn: new Map(),
  leader: 'replica-1',
  servers: ['server-1'],
  graceMs: 40_000,
  leaseHoldMs: 20_000,
  clocksAgree: true,
  wallMs: 1_767_323_045_000,
  pathFailureHoldMs: 0,
  replicas: 2,
  writesOneByOne: false,
  namespaceAutonomy: false,
};
const newest = ['rate-change', 'refused-writes', 'unseen-deletions'] as const;
const ofPolicies = ['maintenance', 'policy-zones', 'fencing'] as const;
const ofMeetings = [
  'budget',
  'cooldown',
  'limit',
  'pause',
  'old-maintenance',
  'equal-claims',
  'places',
  'deletion-rate',
  'hourly-limit',
  'flapping',
  'lost-verb',
] as const;
const ofRepetitions = ['two-unread-leases', 'two-renewals', 'two-path-failures'] as const;
const moreSeeds = Array.from({ length: 2_000 }, (_, index) => index + 1);
const seeds = Array.from({ length: 400 }, (_, index) => index + 1);

function older(seed: number): string | undefined {
  return planDrill(new SeededRandom(seed ^ 0xd1_11), cluster)?.name;
}

test('about two of five seeds have the drill that they had first, the regression seeds among them', () => {
  const had = seeds.filter((seed) => older(seed) !== undefined);
  const kept = had.filter((seed) => drawDrill(seed, cluster)?.name === older(seed));
  assert.ok(kept.length > 0.37 * had.length && kept.length < 0.5 * had.length, `${kept.length} of ${had.length}`);
  for (const seed of [45, 1019, 1000714, 1000725, 1000769])
    if (older(seed) !== undefined) assert.equal(drawDrill(seed, cluster)?.name, older(seed), `seed ${seed}`);
});

test('the regression seeds from before the newest drills have none of them', () => {
  for (const seed of seedsBefore(7_005_303))
    assert.ok(!newest.some((name) => name === drawDrill(seed, cluster)?.name), `seed ${seed}`);
});

test('one seed of ten has a drill with a policy, and no regression seed from before them', () => {
  const has = (seed: number): boolean => ofPolicies.some((name) => name === drawDrill(seed, cluster)?.name);
  const share = seeds.filter(has).length / seeds.length;
  assert.ok(share > 0.06 && share < 0.14, `${share}`);
  for (const seed of seedsBefore(147_929_359)) assert.ok(!has(seed), `seed ${seed}`);
});

test('one seed of eight has a drill in which features meet, and no regression seed from before them', () => {
  const has = (seed: number): boolean => ofMeetings.some((name) => name === drawDrill(seed, cluster)?.name);
  const share = seeds.filter(has).length / seeds.length;
  assert.ok(share > 0.08 && share < 0.16, `${share}`);
  for (const seed of seedsBefore(220_311_434)) assert.ok(!has(seed), `seed ${seed}`);
  const drawn = new Set(moreSeeds.map((seed) => drawDrill(seed, cluster)?.name));
  for (const name of ofMeetings) assert.ok(drawn.has(name), name);
});

test('one seed of twenty has a drill that repeats something, and no regression seed from before them', () => {
  const held = { ...cluster, pathFailureHoldMs: 300_000 };
  const has = (seed: number): boolean => ofRepetitions.some((name) => name === drawDrill(seed, held)?.name);
  const share = moreSeeds.filter(has).length / moreSeeds.length;
  assert.ok(share > 0.03 && share < 0.07, `${share}`);
  for (const seed of seedsBefore(140_000_070)) assert.ok(!has(seed), `seed ${seed}`);
  const drawn = new Set(moreSeeds.map((seed) => drawDrill(seed, held)?.name));
  for (const name of ofRepetitions) assert.ok(drawn.has(name), name);
});

for (const name of ['window', 'overflow', 'early-warning', 'denied-deletions'])
  test(`one seed of fifty has the drill ${name}, and no regression seed from before it`, () => {
    const has = (seed: number): boolean => drawDrill(seed, cluster)?.name === name;
    const share = moreSeeds.filter(has).length / moreSeeds.length;
    assert.ok(share > 0.01 && share < 0.03, `${share}`);
    for (const { seed } of regressionSeeds) assert.ok(!has(seed), `seed ${seed}`);
  });

test('every newer drill is drawn, and one replaces a drill for which the cluster is too small', () => {
  const names = new Set(seeds.map((seed) => drawDrill(seed, cluster)?.name));
  for (const name of ['stopped-taints', 'unread-lease', 'late-answers', 'late-read', 'churn', ...newest, ...ofPolicies])
    assert.ok(names.has(name), name);
  const small = { ...cluster, nodes: cluster.nodes.slice(0, 1) };
  const older = seeds.filter((seed) => planDrill(new SeededRandom(seed ^ 0xd1_11), small) === undefined);
  assert.ok(older.some((seed) => drawDrill(seed, small) !== undefined));
});

test('where the cluster is too small for one of the newest drills, the seed has an earlier one', () => {
  const pairs = { ...cluster, nodes: cluster.nodes.slice(0, 6) };
  const names = seeds.map((seed) => drawDrill(seed, pairs)?.name);
  assert.ok(!names.includes('rate-change'));
  assert.ok(names.includes('unseen-deletions'));
});

test('a cluster in which every node is silent has no drill that makes nodes silent', () => {
  const silent: DrillCluster = { ...cluster, nodes: [], silentIn: new Map([['a', 9]]) };
  for (const seed of seeds) {
    for (const { fault } of drawDrill(seed, silent)?.acts ?? [])
      assert.ok(fault.kind !== 'node' || fault.names.length > 0, `seed ${seed}`);
  }
});

test('where one write at a time is under way, none hangs: it would keep those of every other node waiting', () => {
  const hanging = (writesOneByOne: boolean): number[] =>
    moreSeeds.filter((seed) => {
      const { acts = [] } = drawDrill(seed, { ...cluster, writesOneByOne }) ?? {};
      return acts.some(
        ({ fault }) => fault.kind === 'stuck-object' && fault.answer === 'none' && fault.verbs.includes('patch'),
      );
    });
  assert.ok(hanging(false).length > 10);
  assert.deepEqual(hanging(true), []);
});
