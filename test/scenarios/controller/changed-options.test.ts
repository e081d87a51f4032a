// Settings that change while the controller runs: each applies from the next decision on, and never in part.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { describeDecision } from '../../../src/controller/decision-log/describe-decision.ts';
import { ControllerWorld } from '../../support/controller-world.ts';
import { aZonedWorld, names } from '../../support/zoned-world.ts';

/** One silent node among healthy ones, last heartbeat at 0 s. */
function aWorldWithOneSilent(): ControllerWorld {
  const world = aZonedWorld({ a: 4, b: 3 }).start();
  world.goSilent('a-0');
  return world;
}

test('a shorter grace period applies at once, also to a silence that has already lasted', async () => {
  await using world = aWorldWithOneSilent();
  await world.advance(30);
  assert.equal(world.ready('a-0'), 'True');
  world.changeOptions({ nodeMonitorGracePeriodMs: 20_000 });
  await world.advance(0.1);
  assert.equal(world.ready('a-0'), 'Unknown');
  assert.deepEqual(world.notReady(), ['a-0'], 'a node that renews every 10 s is not silent');
  await world.advance(60);
  assert.equal(world.decisions.filter(({ decision }) => decision.kind === 'node-silent').length, 1);
});

test('a longer grace period leaves no earlier deadline due', async () => {
  await using world = aWorldWithOneSilent();
  await world.advance(45);
  world.changeOptions({ nodeMonitorGracePeriodMs: 100_000 });
  await world.advance(54.9);
  assert.equal(world.ready('a-0'), 'True');
  await world.advance(0.3);
  assert.equal(world.ready('a-0'), 'Unknown');
});

test('a longer grace period pauses no evaluation while the API server answers', async () => {
  for (let offsetMs = 0; offsetMs < 3_000; offsetMs += 250) {
    await using world = aZonedWorld({ a: 4, b: 3 }, { nodeMonitorGracePeriodMs: 20_000 }).start();
    await world.advance(12);
    world.loseFrames();
    await world.advance(10 + offsetMs / 1_000);
    world.changeOptions({ nodeMonitorGracePeriodMs: 100_000 });
    await world.advance(20);
    assert.ok(!world.kinds().includes('evaluation-paused'), `changed ${offsetMs} ms later`);
  }
});

test('a longer grace period does not revert what was written', async () => {
  await using world = aWorldWithOneSilent();
  await world.advance(61);
  const written = world.writes.length;
  assert.equal(world.tainted(['a-0']).length, 1);
  world.changeOptions({ nodeMonitorGracePeriodMs: 300_000 });
  await world.advance(60);
  assert.equal(world.ready('a-0'), 'Unknown');
  assert.equal(world.tainted(['a-0']).length, 1);
  assert.equal(world.writes.length, written);
});

test('a silence confirmed under a shorter grace period is confirmed again under a longer one', async () => {
  await using world = aZonedWorld({ a: 4, b: 3 }, { nodeMonitorGracePeriodMs: 20_000 }).start();
  world.goSilent('a-0');
  // Confirmed, and then the write fails: the API does not show the assessment.
  world.failNext('patch', 'nodes', 'unavailable', 1_000);
  await world.advance(21);
  assert.equal(world.ready('a-0'), 'True');
  world.changeOptions({ nodeMonitorGracePeriodMs: 100_000 });
  world.frozen = true;
  world.renewing('a-0');
  world.goSilent('a-0');
  world.frozen = false;
  await world.advance(85);
  assert.ok(world.decided('confirmation-held').some(({ node }) => node === 'a-0'));
  assert.ok(!world.decided('node-silent').some(({ node }) => node === 'a-0'));
});

test('a shorter startup grace period applies at once to a node that never posted a status', async () => {
  await using world = aZonedWorld({ a: 3 });
  world.addNode('fresh', { zone: 'a' });
  world.putNode({ ...world.node('fresh'), status: {} });
  await world.running(30);
  assert.equal(world.ready('fresh'), undefined);
  world.changeOptions({ nodeStartupGracePeriodMs: 20_000 });
  await world.advance(0.1);
  assert.equal(world.ready('fresh'), 'Unknown');
});

test('a changed rate applies to queued nodes and grants no token', async () => {
  await using world = aZonedWorld({ a: 10, b: 3 }).start();
  await world.silentFor(51, ...names(4, 'a-'));
  assert.equal(world.tainted(names(4, 'a-')).length, 1);
  world.changeOptions({ nodeEvictionRate: 1 });
  await world.advance(0.5);
  assert.equal(world.tainted(names(4, 'a-')).length, 1);
  await world.advance(3);
  assert.equal(world.tainted(names(4, 'a-')).length, 4);
});

test('a rate of 0 stops a queue', async () => {
  await using world = aZonedWorld({ a: 10, b: 3 }).start();
  await world.silentFor(51, ...names(4, 'a-'));
  world.changeOptions({ nodeEvictionRate: 0 });
  await world.advance(100);
  assert.equal(world.tainted(names(4, 'a-')).length, 1);
});

test('a new zone starts with the current rate', async () => {
  await using world = await aZonedWorld({ a: 3 }, { nodeEvictionRate: 0 }).running(1);
  world.changeOptions({ nodeEvictionRate: 0.1 });
  world.addNode('late', { zone: 'late' });
  await world.advance(6);
  assert.equal(world.lifecycle.stages.queues.get('r/late')?.tokens(world.clock.monotonicMs()), 1);
});

test('with a shorter grace period stale watches are detected sooner', async () => {
  await using world = aZonedWorld({ a: 3 });
  const { freshness } = world.lifecycle.stages;
  await world.running(1);
  world.changeOptions({ nodeMonitorGracePeriodMs: 8_000 });
  await world.advance(1);
  world.loseContact();
  await world.advance(1.5);
  assert.equal(freshness.staleness(), 'no-contact');
});

test('with a shorter grace period the canary reports a lagging watch sooner', async () => {
  await using world = aZonedWorld({ a: 3 });
  world.canaryLease = { touch: () => Promise.resolve('999999') };
  world.start();
  await world.restart();
  const { freshness } = world.lifecycle.stages;
  await world.advance(2.5);
  assert.equal(freshness.staleness(), undefined);
  world.changeOptions({ nodeMonitorGracePeriodMs: 8_000 });
  assert.equal(freshness.staleness(), 'stream-behind');
});

test('changed rates and thresholds of disrupted zones apply to the zones at once', async () => {
  await using world = aZonedWorld({ a: 10, b: 3 }).start();
  await world.silentFor(60, ...names(6, 'a-'));
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
  await world.silentFor(70, ...names(10, 'a-'));
  assert.deepEqual(plan(), ['fully-disrupted', 0.1]);
  world.changeOptions({ fullDisruptionEvictionRate: 0.02 });
  await world.advance(0.1);
  assert.deepEqual(plan(), ['fully-disrupted', 0.02]);
});

test('a changed marking rate applies to queued nodes and to new queues', async () => {
  await using world = aZonedWorld({ a: 10, b: 3 }, { podMarkingRate: 0.1 });
  for (const name of names(4, 'a-')) world.addPod(`pod-${name}`, name);
  const marked = (): number => names(4, 'a-').filter((name) => world.podReady(`pod-${name}`) === 'False').length;
  await world.start().silentFor(52, ...names(4, 'a-'));
  assert.equal(marked(), 1);
  world.changeOptions({ podMarkingRate: 10 });
  await world.advance(1);
  assert.equal(marked(), 4);
});

test('a shorter maximum ends the hold in force, a longer one extends it from its start', async () => {
  await using world = aZonedWorld({ a: 10, b: 10 }).start();
  await world.silentFor(55, ...names(9, 'a-'), ...names(9, 'b-'));
  const held = (): boolean => world.lifecycle.stages.outage.hold() !== undefined;
  assert.equal(held(), true);
  world.changeOptions({ controlPlanePathFailureHoldMs: 600_000 });
  await world.advance(400);
  assert.equal(held(), true);
  world.changeOptions({ controlPlanePathFailureHoldMs: 300_000 });
  await world.advance(0.1);
  assert.equal(held(), false);
  assert.ok(world.decided('acts-resumed').some(({ evidence }) => evidence === null));
});

test('a shorter monitor period does not wait for the end of the longer one', async () => {
  await using world = await aZonedWorld({ a: 3 }, { nodeMonitorPeriodMs: 40_000 }).running(1);
  const passes = (): number =>
    world.meter.observations.get('node_collector_update_all_nodes_health_duration_seconds')?.length ?? 0;
  const before = passes();
  world.changeOptions({ nodeMonitorPeriodMs: 1_000 });
  await world.advance(5);
  assert.ok(passes() - before >= 5);
});

test('eviction mode: a changed timeout applies to nodes that are waiting', async () => {
  await using world = aZonedWorld({ a: 4, b: 3 }, { taintBasedEvictions: false });
  world.addPod('plain', 'a-0');
  await world.start().silentFor(70, 'a-0');
  world.changeOptions({ podEvictionTimeoutMs: 100_000 });
  await world.advance(25);
  assert.deepEqual(world.evicted(), []);
  await world.advance(60);
  assert.deepEqual(world.evicted(), ['plain']);
});

test('the threshold of the pod garbage collector is read in each round', async () => {
  const podGc = { terminatedPodGcThreshold: 10 };
  await using world = new ControllerWorld({}, { podGc: true }, podGc);
  world.addNode('n');
  world.renewing('n');
  for (const name of names(3, 'done-')) {
    world.addPod(name, 'n');
    world.changePod(name, (pod) => ({ ...pod, status: { ...pod.status, phase: 'Succeeded' } }));
  }
  await world.running(1);
  assert.deepEqual(world.evicted(), []);
  podGc.terminatedPodGcThreshold = 1;
  await world.advance(25);
  assert.equal(world.evicted().length, 2);
});

test('a standby applies changes too, and leads with them', async () => {
  await using world = aZonedWorld({ a: 4, b: 3 });
  world.changeOptions({ nodeMonitorGracePeriodMs: 20_000 });
  await world.start().silentFor(22, 'a-0');
  assert.equal(world.ready('a-0'), 'Unknown');
});

test('a change of settings is a decision that lists each setting, in the log and in the history', async () => {
  await using world = aZonedWorld({ a: 3 }).start();
  world.lifecycle.optionsChanged([{ setting: 'nodeEvictionRate', from: '0.1', to: '0.5' }]);
  const line = world.logger.lines.find(({ message }) => message === 'settings changed');
  assert.deepEqual(line?.fields['changes'], [{ setting: 'nodeEvictionRate', from: '0.1', to: '0.5' }]);
  const noted = world.lifecycle.stages.decisions.of('cluster').at(-1)?.decision;
  assert.ok(noted?.kind === 'settings-changed');
  assert.equal(describeDecision(noted), 'settings changed: nodeEvictionRate 0.1 -> 0.5');
});

const nodes = names(3, 'a-').concat(names(3, 'b-'));
const aStep = fc.oneof(
  fc.record({ graceMs: fc.integer({ min: 11_000, max: 60_000 }) }),
  fc.record({ advanceS: fc.integer({ min: 1, max: 25 }) }),
  fc.record({ silent: fc.constantFrom(...nodes) }),
  fc.record({ back: fc.constantFrom(...nodes) }),
);

test('random grace periods: no node with a heartbeat within the current one is silent, and every silent node is recorded', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(aStep, { maxLength: 30 }), async (steps) => {
      await using world = aZonedWorld({ a: 3, b: 3, c: 3 });
      const heartbeatAtMs = new Map(nodes.map((name) => [name, world.clock.monotonicMs()]));
      const silent = new Set<string>();
      world.leases.onChange('test', ({ object }) => heartbeatAtMs.set(object.name, world.clock.monotonicMs()));
      world.lifecycle.stages.decisions.onDecision(({ decision }) => {
        if (decision.kind !== 'node-silent') return;
        const silentMs = world.clock.monotonicMs() - (heartbeatAtMs.get(decision.node) ?? 0);
        assert.ok(silentMs > world.options.nodeMonitorGracePeriodMs, `${decision.node}: only ${silentMs} ms`);
        assert.ok(silent.has(decision.node));
      });
      world.start();
      for (const step of steps) {
        if ('graceMs' in step) world.changeOptions({ nodeMonitorGracePeriodMs: step.graceMs });
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
      await world.advance(world.options.nodeMonitorGracePeriodMs / 1_000 + 11);
      for (const name of nodes) assert.equal(world.ready(name), silent.has(name) ? 'Unknown' : 'True', name);
    }),
    { numRuns: 60 },
  );
});
