// Settings that change while the controller runs: each is in force from the next decision on, and none is half in force.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { ControllerWorld } from '../../support/controller-world.ts';
import { aZonedWorld, names } from '../../support/zoned-world.ts';

const tainted = (world: ControllerWorld, nodes: readonly string[]): number =>
  nodes.filter((name) => world.taints(name).includes('unreachable:NoExecute')).length;

/** One dark node among healthy ones, last heard at 0 s. */
function aWorldWithOneDark(): ControllerWorld {
  const world = aZonedWorld({ a: 4, b: 3 });
  world.start();
  world.goDark('a-0');
  return world;
}

test('a shorter grace period is in force at once, for the silence that has been as well', async () => {
  const world = aWorldWithOneDark();
  await world.advance(30);
  assert.equal(world.ready('a-0'), 'True');
  world.changeOptions({ nodeMonitorGracePeriodMs: 20_000 });
  await world.advance(0.1);
  assert.equal(world.ready('a-0'), 'Unknown');
  assert.deepEqual(
    names(3, 'b-').map((name) => world.ready(name)),
    ['True', 'True', 'True'],
    'who is heard every 10 s is not silent',
  );
  await world.advance(60);
  assert.equal(world.decisions.filter(({ decision }) => decision.kind === 'node-silent').length, 1);
  await world.stop();
});

test('a longer grace period leaves no earlier verdict due', async () => {
  const world = aWorldWithOneDark();
  await world.advance(45);
  world.changeOptions({ nodeMonitorGracePeriodMs: 100_000 });
  await world.advance(54.9);
  assert.equal(world.ready('a-0'), 'True');
  await world.advance(0.3);
  assert.equal(world.ready('a-0'), 'Unknown');
  await world.stop();
});

test('a longer grace period does not take back what was written', async () => {
  const world = aWorldWithOneDark();
  await world.advance(61);
  const written = world.writes.length;
  assert.equal(tainted(world, ['a-0']), 1);
  world.changeOptions({ nodeMonitorGracePeriodMs: 300_000 });
  await world.advance(60);
  assert.equal(world.ready('a-0'), 'Unknown');
  assert.equal(tainted(world, ['a-0']), 1);
  assert.equal(world.writes.length, written);
  await world.stop();
});

test('a silence that was confirmed under a shorter grace period is confirmed again under a longer one', async () => {
  const world = aZonedWorld({ a: 4, b: 3 }, { nodeMonitorGracePeriodMs: 20_000 });
  world.start();
  world.goDark('a-0');
  // Confirmed, and then the write fails: the verdict stands in nobody's status.
  world.failNext('patch', 'nodes', 'unavailable', 1_000);
  await world.advance(21);
  assert.equal(world.ready('a-0'), 'True');
  world.changeOptions({ nodeMonitorGracePeriodMs: 100_000 });
  world.frozen = true;
  world.renewing('a-0');
  world.goDark('a-0');
  world.frozen = false;
  await world.advance(85);
  assert.ok(world.decisions.some(({ decision }) => decision.kind === 'verdict-held' && decision.node === 'a-0'));
  assert.ok(!world.decisions.some(({ decision }) => decision.kind === 'node-silent' && decision.node === 'a-0'));
  await world.stop();
});

test('a shorter startup grace period is in force at once for a node that never posted', async () => {
  const world = aZonedWorld({ a: 3 });
  world.addNode('fresh', { zone: 'a' });
  world.putNode({ ...world.node('fresh'), status: {} });
  world.start();
  await world.advance(30);
  assert.equal(world.ready('fresh'), undefined);
  world.changeOptions({ nodeStartupGracePeriodMs: 20_000 });
  await world.advance(0.1);
  assert.equal(world.ready('fresh'), 'Unknown');
  await world.stop();
});

test('a rate is swapped under those who wait, and gives no token away', async () => {
  const world = aZonedWorld({ a: 10, b: 3 });
  world.start();
  world.goDark(...names(4, 'a-'));
  await world.advance(51);
  assert.equal(tainted(world, names(4, 'a-')), 1);
  world.changeOptions({ nodeEvictionRate: 1 });
  await world.advance(0.5);
  assert.equal(tainted(world, names(4, 'a-')), 1);
  await world.advance(3);
  assert.equal(tainted(world, names(4, 'a-')), 4);
  await world.stop();
});

test('a rate of 0 stops a line that moves', async () => {
  const world = aZonedWorld({ a: 10, b: 3 });
  world.start();
  world.goDark(...names(4, 'a-'));
  await world.advance(51);
  world.changeOptions({ nodeEvictionRate: 0 });
  await world.advance(100);
  assert.equal(tainted(world, names(4, 'a-')), 1);
  await world.stop();
});

test('a zone that comes later begins with the rate in force', async () => {
  const world = aZonedWorld({ a: 3 }, { nodeEvictionRate: 0 });
  world.start();
  await world.advance(1);
  world.changeOptions({ nodeEvictionRate: 0.1 });
  world.addNode('late', { zone: 'late' });
  await world.advance(6);
  assert.equal(world.lifecycle.stages.queues.get('r/late')?.tokens(world.clock.monotonicMs()), 1);
  await world.stop();
});

test('with a shorter grace period our own eyes are watched more closely', async () => {
  const world = aZonedWorld({ a: 3 });
  const { sight } = world.lifecycle.stages;
  world.start();
  await world.advance(1);
  world.changeOptions({ nodeMonitorGracePeriodMs: 8_000 });
  await world.advance(1);
  const blindFromMs = world.clock.monotonicMs();
  world.leases.lastFrameAtMs = () => blindFromMs;
  world.answering = false;
  await world.advance(1.5);
  assert.equal(sight.blindness(), 'no-contact');
  await world.stop();
});

test('with a shorter grace period a stream counts as behind sooner', async () => {
  const world = aZonedWorld({ a: 3 });
  world.canaryLease = { touch: () => Promise.resolve('999999') };
  world.start();
  await world.restart();
  const { sight } = world.lifecycle.stages;
  await world.advance(2.5);
  assert.equal(sight.blindness(), undefined);
  world.changeOptions({ nodeMonitorGracePeriodMs: 8_000 });
  assert.equal(sight.blindness(), 'stream-behind');
  await world.stop();
});

test('the rates of disrupted zones and the thresholds that name them judge the zones at once', async () => {
  const world = aZonedWorld({ a: 10, b: 3 });
  world.start();
  world.goDark(...names(6, 'a-'));
  await world.advance(60);
  const plan = (): readonly unknown[] => {
    const { condition, ratePerSecond } = world.lifecycle.stages.zones.plan('r/a') ?? {};
    return [condition, ratePerSecond];
  };
  assert.deepEqual(plan(), ['partially-disrupted', 0]);
  world.changeOptions({ largeClusterSizeThreshold: 5 });
  await world.advance(0.1);
  assert.deepEqual(plan(), ['partially-disrupted', 0.01]);
  world.changeOptions({ secondaryNodeEvictionRate: 0.05 });
  await world.advance(0.1);
  assert.deepEqual(plan(), ['partially-disrupted', 0.05]);
  world.changeOptions({ unhealthyZoneThreshold: 0.7 });
  await world.advance(0.1);
  assert.deepEqual(plan(), ['normal', 0.1]);
  world.goDark(...names(10, 'a-'));
  await world.advance(70);
  assert.deepEqual(plan(), ['fully-disrupted', 0.1]);
  world.changeOptions({ fullDisruptionEvictionRate: 0.02 });
  await world.advance(0.1);
  assert.deepEqual(plan(), ['fully-disrupted', 0.02]);
  await world.stop();
});

test('the marking rate is in force for those who wait, and for a line that begins', async () => {
  const world = aZonedWorld({ a: 10, b: 3 }, { podMarkingRate: 0.1 });
  for (const name of names(4, 'a-')) world.addPod(`pod-${name}`, name);
  const marked = (): number =>
    names(4, 'a-').filter((name) =>
      world.pod(`pod-${name}`)?.status?.conditions?.some(({ type, status }) => type === 'Ready' && status === 'False'),
    ).length;
  world.start();
  world.goDark(...names(4, 'a-'));
  await world.advance(52);
  assert.equal(marked(), 1);
  world.changeOptions({ podMarkingRate: 10 });
  await world.advance(1);
  assert.equal(marked(), 4);
  await world.stop();
});

test('a shorter hold ends the one in force, a longer one prolongs it from where it began', async () => {
  const world = aZonedWorld({ a: 10, b: 10 });
  world.start();
  world.goDark(...names(9, 'a-'), ...names(9, 'b-'));
  await world.advance(55);
  const held = (): boolean => world.lifecycle.stages.outage.hold() !== undefined;
  assert.equal(held(), true);
  world.changeOptions({ controlPlanePathFailureHoldMs: 600_000 });
  await world.advance(400);
  assert.equal(held(), true);
  world.changeOptions({ controlPlanePathFailureHoldMs: 300_000 });
  await world.advance(0.1);
  assert.equal(held(), false);
  assert.ok(world.decisions.some(({ decision }) => decision.kind === 'acts-resumed' && decision.ending === 'expired'));
  await world.stop();
});

test('a shorter monitor period does not wait for the end of the longer one', async () => {
  const world = aZonedWorld({ a: 3 }, { nodeMonitorPeriodMs: 40_000 });
  world.start();
  await world.advance(1);
  const passes = (): number =>
    world.meter.observations.get('node_collector_update_all_nodes_health_duration_seconds')?.length ?? 0;
  const before = passes();
  world.changeOptions({ nodeMonitorPeriodMs: 1_000 });
  await world.advance(5);
  assert.ok(passes() - before >= 5);
  await world.stop();
});

test('eviction mode: another timeout is in force for those whose time runs', async () => {
  const world = aZonedWorld({ a: 4, b: 3 }, { taintBasedEvictions: false });
  world.addPod('plain', 'a-0');
  world.start();
  world.goDark('a-0');
  await world.advance(70);
  world.changeOptions({ podEvictionTimeoutMs: 100_000 });
  await world.advance(25);
  assert.deepEqual(world.evicted(), []);
  await world.advance(60);
  assert.deepEqual(world.evicted(), ['plain']);
  await world.stop();
});

test('the threshold of the pod garbage collector is read in each round', async () => {
  const podGc = { terminatedPodGcThreshold: 10 };
  const world = new ControllerWorld({}, { podGc: true }, podGc);
  world.addNode('n');
  world.renewing('n');
  for (const name of names(3, 'done-')) {
    world.addPod(name, 'n');
    world.changePod(name, (pod) => ({ ...pod, status: { ...pod.status, phase: 'Succeeded' } }));
  }
  world.start();
  await world.advance(1);
  assert.deepEqual(world.evicted(), []);
  podGc.terminatedPodGcThreshold = 1;
  await world.advance(25);
  assert.equal(world.evicted().length, 2);
  await world.stop();
});

test('who stands by takes changes, too, and leads by them', async () => {
  const world = aZonedWorld({ a: 4, b: 3 });
  world.changeOptions({ nodeMonitorGracePeriodMs: 20_000 });
  world.start();
  world.goDark('a-0');
  await world.advance(22);
  assert.equal(world.ready('a-0'), 'Unknown');
  await world.stop();
});

test('a change is a decision that names each setting, for the log and for whoever asks later', async () => {
  const world = aZonedWorld({ a: 3 });
  world.start();
  world.lifecycle.optionsChanged([{ setting: 'nodeEvictionRate', from: '0.1', to: '0.5' }]);
  const line = world.logger.lines.find(({ message }) => message.startsWith('settings changed'));
  assert.equal(line?.message, 'settings changed: nodeEvictionRate 0.1 -> 0.5');
  assert.equal(world.lifecycle.stages.decisions.of('cluster').at(-1)?.decision.kind, 'settings-changed');
  await world.stop();
});

const nodes = names(3, 'a-').concat(names(3, 'b-'));
const aStep = fc.oneof(
  fc.record({ graceMs: fc.integer({ min: 11_000, max: 60_000 }) }),
  fc.record({ advanceS: fc.integer({ min: 1, max: 25 }) }),
  fc.record({ dark: fc.constantFrom(...nodes) }),
  fc.record({ back: fc.constantFrom(...nodes) }),
);

test('whatever becomes of the grace period, nobody is silent who was heard within the one in force, and who is silent is told', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(aStep, { maxLength: 30 }), async (steps) => {
      const world = aZonedWorld({ a: 3, b: 3, c: 3 });
      const heardAtMs = new Map(nodes.map((name) => [name, world.clock.monotonicMs()]));
      const dark = new Set<string>();
      world.leases.onChange('test', ({ object }) => heardAtMs.set(object.name, world.clock.monotonicMs()));
      world.lifecycle.stages.decisions.onDecision(({ decision }) => {
        if (decision.kind !== 'node-silent') return;
        const silentMs = world.clock.monotonicMs() - (heardAtMs.get(decision.node) ?? 0);
        assert.ok(silentMs > world.options.nodeMonitorGracePeriodMs, `${decision.node}: only ${silentMs} ms`);
        assert.ok(dark.has(decision.node));
      });
      world.start();
      for (const step of steps) {
        if ('graceMs' in step) world.changeOptions({ nodeMonitorGracePeriodMs: step.graceMs });
        else if ('advanceS' in step) await world.advance(step.advanceS);
        else if ('dark' in step) {
          world.goDark(step.dark);
          dark.add(step.dark);
        } else {
          world.renewing(step.back);
          world.post(step.back, 'True');
          dark.delete(step.back);
        }
      }
      await world.advance(world.options.nodeMonitorGracePeriodMs / 1_000 + 11);
      for (const name of nodes) assert.equal(world.ready(name), dark.has(name) ? 'Unknown' : 'True', name);
      await world.stop();
    }),
    { numRuns: 60 },
  );
});
