// Grace periods of policies: each node has those of its policy, and a change of policies or labels moves deadlines both
// ways.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { aPolicy, inZone } from '../../support/builders.ts';
import type { ControllerWorld } from '../../support/controller-world.ts';
import { aZonedWorld, names } from '../../support/zoned-world.ts';

const sizes = { a: 4, b: 4 };
const short = aPolicy({ name: 'short', nodeMonitorGracePeriodMs: 40_000 });
const long = aPolicy({ name: 'long', selector: inZone('b'), nodeMonitorGracePeriodMs: 120_000 });

test('two policies: each node becomes Unknown after the grace period of its own', async () => {
  await using world = aZonedWorld({ ...sizes, c: 4 }, { policies: [short, long] }).start();
  await world.silentFor(39.9, 'a-0', 'b-0', 'c-0');
  assert.deepEqual(world.notReady(), []);
  await world.advance(0.3);
  assert.deepEqual(world.notReady(), ['a-0']);
  await world.advance(10);
  assert.deepEqual(world.notReady(), ['a-0', 'c-0']);
  await world.advance(69.6);
  assert.equal(world.ready('b-0'), 'True');
  await world.advance(0.4);
  assert.equal(world.ready('b-0'), 'Unknown');
  const graces = world.decided('node-silent').map(({ node, graceMs }) => [node, graceMs]);
  assert.deepEqual(graces, [
    ['a-0', 40_000],
    ['c-0', 50_000],
    ['b-0', 120_000],
  ]);
});

test('a startup grace period applies to the nodes of its policy that never posted a status', async () => {
  await using world = aZonedWorld(sizes, { policies: [aPolicy({ nodeStartupGracePeriodMs: 20_000 })] });
  for (const [name, zone] of [
    ['fresh-a', 'a'],
    ['fresh-b', 'b'],
  ] as const) {
    world.addNode(name, { zone });
    world.putNode({ ...world.node(name), status: {} });
  }
  await world.running(20.3);
  assert.equal(world.ready('fresh-a'), 'Unknown');
  assert.equal(world.ready('fresh-b'), undefined);
});

test('a policy that is added applies to a silence that has already lasted', async () => {
  await using world = aZonedWorld(sizes).start();
  await world.silentFor(41, 'a-0', 'b-0');
  assert.deepEqual(world.notReady(), []);
  world.changeOptions({ policies: [short] });
  await world.advance(0.5);
  assert.deepEqual(world.notReady(), ['a-0']);
});

test('a policy that is removed leaves no earlier deadline due', async () => {
  await using world = aZonedWorld(sizes, { policies: [short] }).start();
  await world.silentFor(39, 'a-0');
  world.changeOptions({ policies: [] });
  await world.advance(10.9);
  assert.equal(world.ready('a-0'), 'True');
  await world.advance(0.3);
  assert.equal(world.ready('a-0'), 'Unknown');
});

test('a longer grace period of a changed policy moves the deadline to a later time', async () => {
  await using world = aZonedWorld(sizes, { policies: [short] }).start();
  await world.silentFor(39, 'a-0');
  world.changeOptions({ policies: [{ ...short, nodeMonitorGracePeriodMs: 90_000 }] });
  await world.advance(50.9);
  assert.equal(world.ready('a-0'), 'True');
  await world.advance(0.3);
  assert.equal(world.ready('a-0'), 'Unknown');
});

test('a changed label of a node moves its deadline both ways', async () => {
  await using world = aZonedWorld(sizes, { policies: [short, long] }).start();
  const { labels = {} } = world.node('b-0').metadata;
  await world.silentFor(45, 'b-0');
  world.setLabels('b-0', { ...labels, 'topology.kubernetes.io/zone': 'a' });
  await world.advance(0.5);
  assert.equal(world.ready('b-0'), 'Unknown', 'silent for longer than the grace period of its new policy');
  world.recover('b-0');
  await world.silentFor(35, 'b-0');
  world.setLabels('b-0', labels);
  await world.advance(60);
  assert.equal(world.ready('b-0'), 'True');
  await world.advance(30);
  assert.equal(world.ready('b-0'), 'Unknown');
  const changes = world.decided('policy-changed').filter(({ node }) => node === 'b-0');
  assert.deepEqual(
    changes.map(({ from, to }) => [from, to]),
    [
      [null, 'long'],
      ['long', 'short'],
      ['short', 'long'],
    ],
  );
});

test('a label change that no event reported takes effect with the resync', async () => {
  const forever = { ...long, nodeMonitorGracePeriodMs: 3_600_000 };
  await using world = aZonedWorld(sizes, { policies: [short, forever] }).start();
  await world.silentFor(45, 'b-0');
  const { nodes } = world;
  const stored = nodes.get.bind(nodes);
  nodes.get = (key) => {
    const node = stored(key);
    return key === 'b-0' && node !== undefined ? { ...node, labels: world.node('a-0').metadata.labels ?? {} } : node;
  };
  await world.advance(62);
  assert.equal(world.ready('b-0'), 'Unknown');
});

test('with a policy of a shorter grace period stale watches are detected sooner', async () => {
  await using world = aZonedWorld({ a: 3, b: 3 }, { policies: [aPolicy({ nodeMonitorGracePeriodMs: 8_000 })] });
  const { freshness } = world.lifecycle.stages;
  await world.running(1);
  world.loseContact();
  await world.advance(1.5);
  assert.equal(freshness.staleness(), 'no-contact');
});

test('policies that claim a node equally: the default applies, and both are reported once', async () => {
  const other = aPolicy({ name: 'other', nodeMonitorGracePeriodMs: 300_000 });
  await using world = aZonedWorld(sizes, { policies: [short, other] }).start();
  await world.silentFor(49.9, 'a-0');
  assert.equal(world.ready('a-0'), 'True');
  await world.advance(0.5);
  assert.equal(world.ready('a-0'), 'Unknown');
  await world.advance(120);
  const conflicts = world.decided('policy-conflict');
  assert.equal(conflicts.length, 4, 'once for each node of the zone');
  assert.deepEqual(conflicts[0]?.policies, ['short', 'other']);
  assert.equal(world.meter.read().get('node_lifecycle_policy_conflict_nodes{policy="short"}'), 4);
  assert.equal(world.meter.read().get('node_lifecycle_policy_nodes{policy="short",mode="Enforce"}'), 0);
});

test('the number of nodes of each policy is a metric, and disappears with the policy', async () => {
  await using world = aZonedWorld({ a: 3, b: 2 }, { policies: [short, { ...long, mode: 'Observe' }] }).start();
  await world.advance(1);
  const series = (): readonly (readonly [string, number])[] =>
    [...world.meter.read()].filter(([key]) => key.startsWith('node_lifecycle_policy_nodes'));
  assert.deepEqual(series(), [
    ['node_lifecycle_policy_nodes{policy="short",mode="Enforce"}', 3],
    ['node_lifecycle_policy_nodes{policy="long",mode="Observe"}', 2],
  ]);
  world.changeOptions({ policies: [] });
  assert.deepEqual(series(), []);
});

test('what is remembered of policies is bounded by the number of nodes', async () => {
  await using world = await aZonedWorld(sizes, { policies: [short] }).running(5);
  const { policies } = world.lifecycle.stages;
  assert.equal(policies.size, 8);
  for (const name of names(4, 'a-')) world.removeNode(name);
  await world.advance(10);
  assert.equal(policies.size, 4);
  world.changeOptions({ policies: [] });
  await world.advance(70);
  assert.equal(policies.size, 0);
});

const nodes = [...names(2, 'a-'), ...names(2, 'b-')];
const aGrace = fc.integer({ min: 25, max: 70 });
const aStep = fc.oneof(
  fc.record({ graces: fc.record({ a: fc.option(aGrace), b: fc.option(aGrace) }) }),
  fc.record({ advanceS: fc.integer({ min: 1, max: 25 }) }),
  fc.record({ silent: fc.constantFrom(...nodes) }),
  fc.record({ back: fc.constantFrom(...nodes) }),
);

function policiesOf(graces: { readonly a: number | null; readonly b: number | null }) {
  return (['a', 'b'] as const).flatMap((zone) => {
    const seconds = graces[zone];
    if (seconds === null) return [];
    return [aPolicy({ name: zone, selector: inZone(zone), nodeMonitorGracePeriodMs: seconds * 1_000 })];
  });
}

function graceMsOf(world: ControllerWorld, node: string): number {
  const policy = world.options.policies.find(({ name }) => node.startsWith(name));
  return policy?.nodeMonitorGracePeriodMs ?? world.options.nodeMonitorGracePeriodMs;
}

test('random policies: no node with a heartbeat within its grace period is silent, and every silent node is found', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(aStep, { maxLength: 25 }), async (steps) => {
      await using world = aZonedWorld({ a: 3, b: 3, c: 3 });
      const heartbeatAtMs = new Map(nodes.map((name) => [name, world.clock.monotonicMs()]));
      const silent = new Set<string>();
      world.leases.onChange('test', ({ object }) => heartbeatAtMs.set(object.name, world.clock.monotonicMs()));
      world.lifecycle.stages.decisions.onDecision(({ decision }) => {
        if (decision.kind !== 'node-silent') return;
        const silentMs = world.clock.monotonicMs() - (heartbeatAtMs.get(decision.node) ?? 0);
        assert.ok(silentMs > graceMsOf(world, decision.node), `${decision.node}: only ${silentMs} ms`);
        assert.ok(silent.has(decision.node));
      });
      world.start();
      for (const step of steps) {
        if ('graces' in step) world.changeOptions({ policies: policiesOf(step.graces) });
        else if ('advanceS' in step) await world.advance(step.advanceS);
        else if ('silent' in step) {
          world.goSilent(step.silent);
          silent.add(step.silent);
        } else {
          world.renewing(step.back);
          world.post(step.back, 'True');
          silent.delete(step.back);
        }
      }
      await world.advance(82);
      for (const name of nodes) assert.equal(world.ready(name), silent.has(name) ? 'Unknown' : 'True', name);
    }),
    { numRuns: 40 },
  );
});
