// The taint out-of-service: added to a node that is proven to be fenced, removed when it is back with another boot ID.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fencedAnnotation, outOfServiceAnnotation } from '../../../src/machinery/api/node.ts';
import type { Taint } from '../../../src/machinery/api/taints.ts';
import { formatTime } from '../../../src/machinery/api/timestamps.ts';
import { outOfServiceLabel } from '../../../src/machinery/api/topology.ts';
import { aPolicy } from '../../support/builders.ts';
import type { ControllerWorld } from '../../support/controller-world.ts';
import { explainNode, explainPod } from '../../support/explained.ts';
import { aZonedWorld } from '../../support/zoned-world.ts';

const shutdown: Taint = { key: 'node.cloudprovider.kubernetes.io/shutdown', effect: 'NoSchedule' };
const outOfService = { conditions: ['Fenced'], taints: [shutdown.key] };
const policies = [aPolicy({ name: 'pool', outOfService })];
const sizes = { a: 6, b: 6 };
const added = 'node_lifecycle_out_of_service_taints_total{change="added"}';
const removed = 'node_lifecycle_out_of_service_taints_total{change="removed"}';

function allow(world: ControllerWorld, ...nodes: readonly string[]): ControllerWorld {
  for (const name of nodes) {
    const { labels } = world.node(name).metadata;
    world.setLabels(name, { ...labels, [outOfServiceLabel]: 'allowed' });
  }
  return world;
}

function outOf(world: ControllerWorld, name: string): readonly Taint[] {
  return (world.node(name).spec?.taints ?? []).filter(({ key }) => key === 'node.kubernetes.io/out-of-service');
}

function recordOf(world: ControllerWorld, name: string): unknown {
  const text = world.node(name).metadata.annotations?.[outOfServiceAnnotation];
  return text === undefined ? undefined : JSON.parse(text);
}

function addTaint(world: ControllerWorld, name: string, taint: Taint): void {
  world.setTaints(name, [...(world.node(name).spec?.taints ?? []), taint]);
}

function removeTaint(world: ControllerWorld, name: string, taint: Taint): void {
  world.setTaints(
    name,
    (world.node(name).spec?.taints ?? []).filter(({ key }) => key !== taint.key),
  );
}

/** As another leader does it. */
function markUnknown(world: ControllerWorld, name: string): void {
  const node = world.node(name);
  const conditions = (node.status?.conditions ?? []).map((condition) => ({ ...condition, status: 'Unknown' }));
  world.putNode({ ...node, status: { ...node.status, conditions } });
}

function fencingOf(world: ControllerWorld, name: string): string | undefined {
  return explainNode(world, name).outOfService?.kind;
}

/** The cloud shuts the machine down, which its node controller shows with a taint. */
async function shutDown(world: ControllerWorld, name: string): Promise<void> {
  addTaint(world, name, shutdown);
  await world.silentFor(70, name);
}

test('a node that the cloud has shut down is out of service once it is evicted, and back with another boot ID', async () => {
  await using world = allow(aZonedWorld(sizes, { policies }), 'a-0', 'a-1').start();
  world.goSilent('a-1');
  await shutDown(world, 'a-0');
  assert.deepEqual(
    outOf(world, 'a-0').map(({ value, effect }) => [value, effect]),
    [['node-lifecycle-controller', 'NoExecute']],
  );
  const { bootID, evidence } = recordOf(world, 'a-0') as Record<string, string>;
  assert.deepEqual([bootID, evidence], ['boot-a-0', `taint ${shutdown.key}`]);
  assert.deepEqual(outOf(world, 'a-1'), [], 'silence alone proves nothing');
  assert.equal(world.meter.read().get(added), 1);
  assert.match(
    world.nodeEventsOf('NodeOutOfService').join(),
    /^Added the taint out-of-service: taint .*shutdown proves/,
  );
  await world.advance(600);
  assert.equal(world.meter.read().get(added), 1, 'once');

  world.reboot('a-0', 'boot-2');
  world.recover('a-0');
  await world.advance(2);
  assert.deepEqual([outOf(world, 'a-0'), recordOf(world, 'a-0')], [[], undefined]);
  assert.deepEqual(
    world.taints('a-0'),
    ['node.cloudprovider.kubernetes.io/shutdown:NoSchedule'],
    'that of the cloud is left alone',
  );
  assert.equal(world.meter.read().get(removed), 1);
  assert.equal(world.nodeEventsOf('NodeBackInService').length, 1);
});

test('without the label, or without the field of the policy, nothing is added', async () => {
  await using world = allow(aZonedWorld(sizes, { policies: [aPolicy()] }), 'a-0').start();
  await shutDown(world, 'a-0');
  world.changeOptions({ policies });
  world.setLabels('a-0', { ...world.node('a-0').metadata.labels, [outOfServiceLabel]: 'no' });
  world.goSilent('a-1');
  await shutDown(world, 'a-1');
  assert.deepEqual([outOf(world, 'a-0'), outOf(world, 'a-1')], [[], []]);
  allow(world, 'a-1');
  await world.advance(2);
  assert.equal(outOf(world, 'a-1').length, 1, 'the label is added to a node that is down');
});

test('a person who names the boot proves that it was fenced; a name that remains proves nothing later', async () => {
  await using world = allow(aZonedWorld(sizes, { policies }), 'a-0').start();
  world.annotate('a-0', fencedAnnotation, 'boot-a-0');
  await world.silentFor(70, 'a-0');
  assert.equal(outOf(world, 'a-0').length, 1);
  world.reboot('a-0', 'boot-2');
  world.recover('a-0');
  await world.advance(10);
  await world.silentFor(200, 'a-0');
  assert.equal(world.ready('a-0'), 'Unknown');
  assert.deepEqual(outOf(world, 'a-0'), []);
  assert.equal(explainNode(world, 'a-0').outOfService?.kind, 'unproven');
});

test('a node that returns in the same boot was not fenced: the taint stays, and it is reported once', async () => {
  await using world = allow(aZonedWorld(sizes, { policies }), 'a-0').start();
  await shutDown(world, 'a-0');
  world.recover('a-0');
  await world.advance(300);
  assert.equal(world.ready('a-0'), 'True');
  assert.equal(outOf(world, 'a-0').length, 1);
  assert.equal(world.nodeEventsOf('NodeWasNotFenced').length, 1);
  assert.equal(explainNode(world, 'a-0').outOfService?.kind, 'same-boot');
});

test('a taint that a person removed is not added again, and one that a person added is never removed', async () => {
  await using world = allow(aZonedWorld(sizes, { policies }), 'a-0', 'b-0').start();
  await shutDown(world, 'a-0');
  world.setTaints(
    'a-0',
    (world.node('a-0').spec?.taints ?? []).filter(({ key }) => !key.endsWith('out-of-service')),
  );
  addTaint(world, 'b-0', { key: 'node.kubernetes.io/out-of-service', value: 'nodeshutdown', effect: 'NoExecute' });
  await shutDown(world, 'b-0');
  await world.advance(120);
  assert.deepEqual(outOf(world, 'a-0'), []);
  assert.equal(recordOf(world, 'b-0'), undefined);
  world.reboot('b-0', 'boot-2');
  world.recover('b-0');
  await world.advance(60);
  assert.equal(outOf(world, 'b-0').length, 1);
});

test('another leader removes it, also without the policy, and after a write whose response was lost', async () => {
  await using world = allow(aZonedWorld(sizes, { policies }), 'a-0').start();
  await shutDown(world, 'a-0');
  world.changeOptions({ policies: [] });
  world.reboot('a-0', 'boot-2');
  world.failNext('patch', 'nodes', 'timeout', 2, true);
  world.recover('a-0');
  await world.advance(120);
  assert.deepEqual([outOf(world, 'a-0'), recordOf(world, 'a-0')], [[], undefined]);
});

test('a pause of the node holds it; it follows when that ends', async () => {
  await using world = allow(aZonedWorld(sizes, { policies }), 'a-0').start();
  await world.silentFor(70, 'a-0');
  assert.ok(world.taints('a-0').includes('unreachable:NoExecute'));
  world.annotatePause('a-0', 'true');
  addTaint(world, 'a-0', shutdown);
  await world.advance(120);
  assert.deepEqual(outOf(world, 'a-0'), []);
  world.annotatePause('a-0', undefined);
  await world.advance(20);
  assert.equal(outOf(world, 'a-0').length, 1);
});

test('of a node whose taint a person replaced only the record is removed', async () => {
  await using world = allow(aZonedWorld(sizes, { policies }), 'a-0').start();
  await shutDown(world, 'a-0');
  const taints = world.node('a-0').spec?.taints ?? [];
  world.setTaints(
    'a-0',
    taints.map((taint) => (taint.key.endsWith('out-of-service') ? { ...taint, value: 'nodeshutdown' } : taint)),
  );
  world.reboot('a-0', 'boot-2');
  world.recover('a-0');
  await world.advance(5);
  assert.equal(recordOf(world, 'a-0'), undefined);
  assert.deepEqual(
    outOf(world, 'a-0').map(({ value }) => value),
    ['nodeshutdown'],
  );
});

test('an open breaker holds it', async () => {
  const limits = { maxUnhealthy: { percent: undefined, count: 2 }, cooldownMs: 60_000, resetAtMs: undefined };
  const limited = [aPolicy({ name: 'pool', outOfService, limits })];
  await using world = allow(aZonedWorld(sizes, { policies: limited }), 'a-0').start();
  await world.silentFor(70, 'a-0');
  assert.ok(world.taints('a-0').includes('unreachable:NoExecute'));
  await world.silentFor(60, 'a-1', 'a-2');
  addTaint(world, 'a-0', shutdown);
  await world.advance(60);
  assert.deepEqual(outOf(world, 'a-0'), []);
  world.recover('a-1', 'a-2');
  await world.advance(80);
  assert.equal(outOf(world, 'a-0').length, 1);
});

test('a taint of a cloud that a heartbeat came after proves nothing, until it is removed and set again', async () => {
  await using world = allow(aZonedWorld(sizes, { policies }), 'a-0').start();
  addTaint(world, 'a-0', shutdown);
  await world.advance(3_600);
  await world.silentFor(600, 'a-0');
  assert.ok(world.taints('a-0').includes('unreachable:NoExecute'), 'partitioned, and running');
  assert.deepEqual(outOf(world, 'a-0'), []);
  assert.equal(fencingOf(world, 'a-0'), 'disproved');
  const [event, ...others] = world.nodeEventsOf('NodeFencingNotProven');
  assert.match(event ?? '', /taint .*shutdown does not prove .* a heartbeat of the node came after it; .* set again$/);
  assert.deepEqual(others, [], 'once');

  removeTaint(world, 'a-0', shutdown);
  await world.advance(5);
  addTaint(world, 'a-0', shutdown);
  await world.advance(5);
  assert.equal(outOf(world, 'a-0').length, 1);
});

test('a node that boots again and never becomes Ready was not fenced by the shutdown before that boot', async () => {
  await using world = allow(aZonedWorld(sizes, { policies }), 'a-0').start();
  await world.silentFor(70, 'a-0');
  world.annotatePause('a-0', 'true');
  addTaint(world, 'a-0', shutdown);
  await world.advance(30);
  world.reboot('a-0', 'boot-2');
  world.post('a-0', 'False');
  world.renewing('a-0');
  world.annotatePause('a-0', undefined);
  await world.advance(600);
  await world.silentFor(600, 'a-0');
  assert.equal(world.ready('a-0'), 'Unknown');
  assert.deepEqual(outOf(world, 'a-0'), []);
  assert.equal(fencingOf(world, 'a-0'), 'disproved');
});

test('a renewal of the lease after Fenced=True disproves it, also where no status follows', async () => {
  await using world = allow(aZonedWorld(sizes, { policies }), 'a-0').start();
  await world.silentFor(55, 'a-0');
  world.setCondition('a-0', 'Fenced', 'True');
  world.renewOnce('a-0');
  await world.advance(600);
  assert.deepEqual(outOf(world, 'a-0'), []);
  assert.equal(fencingOf(world, 'a-0'), 'disproved');
  world.setCondition('a-0', 'Fenced', 'False');
  world.setCondition('a-0', 'Fenced', 'True');
  await world.advance(5);
  assert.equal(outOf(world, 'a-0').length, 1);
});

test('a renewal that the watch of leases has not delivered disproves it: the lease is read live', async () => {
  await using world = allow(aZonedWorld(sizes, { policies }), 'a-0').start();
  await world.silentFor(70, 'a-0');
  world.frozen = true;
  world.renewOnce('a-0');
  world.frozen = false;
  addTaint(world, 'a-0', shutdown);
  await world.advance(60);
  assert.deepEqual(outOf(world, 'a-0'), []);
  assert.equal(fencingOf(world, 'a-0'), 'disproved');
});

test('the taint waits for as long as the lease cannot be read live', async () => {
  await using world = allow(aZonedWorld(sizes, { policies }), 'a-0').start();
  await world.silentFor(70, 'a-0');
  world.unreadableLeases.add('a-0');
  addTaint(world, 'a-0', shutdown);
  await world.advance(120);
  assert.deepEqual(outOf(world, 'a-0'), []);
  assert.equal(world.decisions.filter(({ decision }) => decision.kind === 'fencing-not-confirmed').length, 1);
  world.unreadableLeases.clear();
  await world.advance(15);
  assert.equal(outOf(world, 'a-0').length, 1);
});

test('a process that finds the evidence does not know the order, unless the evidence has a later time', async () => {
  await using world = allow(aZonedWorld(sizes, { policies }), 'a-0', 'a-1').start();
  await world.silentFor(70, 'a-0', 'a-1');
  await world.stop();
  addTaint(world, 'a-0', shutdown);
  await world.advance(61);
  world.setCondition('a-1', 'Fenced', 'True');
  await world.restart();
  await world.advance(120);
  assert.deepEqual(outOf(world, 'a-0'), []);
  assert.equal(fencingOf(world, 'a-0'), 'unordered');
  assert.match(world.nodeEventsOf('NodeFencingNotProven').join(), /it is not known whether it appeared after the last/);
  assert.equal(outOf(world, 'a-1').length, 1, 'more than a minute after Unknown');
});

test('evidence with a later time counts, also where it was there before its policy', async () => {
  await using world = allow(aZonedWorld(sizes, { policies: [aPolicy()] }), 'a-0').start();
  await world.silentFor(70, 'a-0');
  await world.advance(61);
  world.setCondition('a-0', 'Fenced', 'True');
  await world.advance(5);
  world.changeOptions({ policies });
  await world.advance(30);
  assert.equal(outOf(world, 'a-0').length, 1);
});

test('a standby that saw the evidence appear adds the taint when it leads', async () => {
  await using world = allow(aZonedWorld(sizes, { policies }), 'a-0', 'a-1');
  world.goSilent('a-0', 'a-1');
  await world.advance(70);
  for (const name of ['a-0', 'a-1']) {
    markUnknown(world, name);
    addTaint(world, name, { key: 'node.kubernetes.io/unreachable', effect: 'NoExecute' });
    addTaint(world, name, shutdown);
  }
  world.renewOnce('a-1');
  await world.advance(30);
  world.start();
  await world.advance(60);
  assert.equal(outOf(world, 'a-0').length, 1);
  assert.deepEqual(outOf(world, 'a-1'), [], 'and the heartbeat after it');
  assert.equal(fencingOf(world, 'a-1'), 'disproved');
});

test('a leader that saw a heartbeat after the evidence is not followed by one that adds the taint', async () => {
  await using world = allow(aZonedWorld(sizes, { policies }), 'a-0').start();
  addTaint(world, 'a-0', shutdown);
  await world.advance(30);
  await world.silentFor(30, 'a-0');
  await world.restart();
  await world.advance(300);
  assert.equal(world.ready('a-0'), 'Unknown');
  assert.deepEqual(outOf(world, 'a-0'), []);
});

/** Evidence as an agent sets it; undefined: without a time. */
type Set = (world: ControllerWorld, at: string | undefined) => void;

const evidences: readonly (readonly [string, Set])[] = [
  ['a condition', (world, at) => world.setCondition('a-0', 'Fenced', 'True', at ?? null)],
  [
    'a taint',
    (world, at) => {
      const others = (world.node('a-0').spec?.taints ?? []).filter(({ key }) => key !== shutdown.key);
      world.setTaints('a-0', [...others, at === undefined ? shutdown : { ...shutdown, timeAdded: at }]);
    },
  ],
  ['an annotation', (world) => world.annotate('a-0', fencedAnnotation, 'boot-a-0')],
];

for (const [title, set] of evidences) {
  test(`${title} without a time that the watch of nodes delivers after a later renewal proves nothing`, async () => {
    await using world = await allow(aZonedWorld(sizes, { policies }), 'a-0').running(5);
    world.nodesFrozen = true;
    set(world, undefined);
    await world.advance(12);
    world.goSilent('a-0');
    world.nodesFrozen = false;
    world.syncCaches();
    await world.advance(120);
    assert.ok(world.taints('a-0').includes('unreachable:NoExecute'), 'partitioned, and running');
    assert.deepEqual(outOf(world, 'a-0'), []);
    assert.equal(fencingOf(world, 'a-0'), 'unordered');
  });

  test(`${title} without a time that a complete state brings with what came after it proves nothing`, async () => {
    await using world = await allow(aZonedWorld(sizes, { policies }), 'a-0').running(5);
    world.nodesFrozen = true;
    set(world, undefined);
    await world.advance(12);
    world.goSilent('a-0');
    world.annotate('a-0', 'example.com/later', 'a version that is newer than the renewal');
    world.nodesFrozen = false;
    world.nodes.state = 'listing';
    world.syncCaches();
    world.nodes.state = 'watching';
    await world.advance(120);
    assert.ok(world.taints('a-0').includes('unreachable:NoExecute'));
    assert.deepEqual(outOf(world, 'a-0'), []);
  });

  test(`${title} without a time, and a Ready condition without one, prove nothing after a restart`, async () => {
    await using world = allow(aZonedWorld(sizes, { policies }), 'a-0').start();
    set(world, undefined);
    await world.advance(15);
    await world.silentFor(10, 'a-0');
    await world.restart();
    await world.advance(100);
    const node = world.node('a-0');
    const conditions = (node.status?.conditions ?? []).map((condition) => {
      const { lastTransitionTime: _, ...others } = condition;
      return others;
    });
    world.putNode({ ...node, status: { ...node.status, conditions } });
    await world.restart();
    await world.advance(300);
    assert.ok(world.taints('a-0').includes('unreachable:NoExecute'));
    assert.deepEqual(outOf(world, 'a-0'), []);
  });
}

for (const [title, set] of evidences.slice(0, 2)) {
  test(`${title} whose time is written again while it stays is no other evidence`, async () => {
    await using world = allow(aZonedWorld(sizes, { policies }), 'a-0').start();
    const rewrite = async (times: number): Promise<void> => {
      for (let round = 0; round < times; round += 1) {
        set(world, formatTime(world.clock.nowMs()));
        await world.advance(30);
      }
    };
    await rewrite(4);
    world.goSilent('a-0');
    await rewrite(10);
    assert.ok(world.taints('a-0').includes('unreachable:NoExecute'), 'partitioned, and running');
    assert.deepEqual(outOf(world, 'a-0'), []);
    assert.equal(fencingOf(world, 'a-0'), 'disproved');
  });
}

test('a status that only a live read brought disproves evidence', async () => {
  await using world = await allow(aZonedWorld(sizes, { policies }), 'a-0').running(5);
  world.goSilent('a-0');
  await world.advance(20);
  addTaint(world, 'a-0', shutdown);
  await world.advance(1);
  world.nodesFrozen = true;
  world.post('a-0', 'False');
  await world.advance(200);
  assert.deepEqual(outOf(world, 'a-0'), []);
});

test('its own taint deletes pods at podDeletionsPerSecond, that of an administrator at once', async () => {
  const limited = [aPolicy({ name: 'pool', outOfService, podDeletionsPerSecond: 0.1 })];
  await using world = allow(aZonedWorld(sizes, { policies: limited }), 'a-0').start();
  const tolerations = ['not-ready', 'unreachable'].map((key) => {
    return { key: `node.kubernetes.io/${key}`, operator: 'Exists', effect: 'NoExecute', tolerationSeconds: 300 };
  });
  for (let number = 0; number < 20; number += 1) world.addPod(`p-${number}`, 'a-0', tolerations);
  await shutDown(world, 'a-0');
  assert.equal(outOf(world, 'a-0').length, 1);
  const before = world.evicted().length;
  await world.advance(60);
  const deleted = world.evicted().length - before;
  assert.ok(deleted >= 5 && deleted <= 8, `${deleted} within 60 s`);
  removeTaint(world, 'a-0', { key: 'node.kubernetes.io/out-of-service', effect: 'NoExecute' });
  addTaint(world, 'a-0', { key: 'node.kubernetes.io/out-of-service', value: 'nodeshutdown', effect: 'NoExecute' });
  await world.advance(10);
  assert.equal(world.evicted().length, 20);
});

test('explain predicts that maintenance holds the deletions of its own taint, and for how long', async () => {
  const maintenance = { conditions: [], taints: ['example.com/maintenance'], maxDurationMs: 600_000 };
  const limited = [aPolicy({ name: 'pool', outOfService, maintenance, podDeletionsPerSecond: 0.01 })];
  await using world = allow(aZonedWorld(sizes, { policies: limited }), 'a-0').start();
  const tolerations = ['not-ready', 'unreachable'].map((key) => {
    return { key: `node.kubernetes.io/${key}`, operator: 'Exists', effect: 'NoExecute', tolerationSeconds: 300 };
  });
  for (const pod of ['first', 'second']) world.addPod(pod, 'a-0', tolerations);
  await shutDown(world, 'a-0');
  assert.equal(world.evicted().length, 1, 'the other one waits for its token');
  const waiting = world.evicted().includes('first') ? 'second' : 'first';
  const timeAdded = formatTime(world.clock.nowMs());
  addTaint(world, 'a-0', { key: 'example.com/maintenance', effect: 'NoSchedule', timeAdded });
  await world.advance(100);
  const inSeconds = explainPod(world, waiting).eviction?.when.inSeconds ?? 0;
  assert.ok(inSeconds > 490 && inSeconds <= 500, `in ${inSeconds} s`);
  await world.advance(inSeconds - 10);
  assert.equal(world.evicted().length, 1);
  await world.advance(20);
  assert.equal(world.evicted().length, 2);
});
