// What the reference is known not to do well, and does here: one test for each entry of decision 0019 that no other test
// is about. Each fails on the reference's behaviour.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { evictionMetrics } from '../../../src/controller/eviction/metrics.ts';
import { aZonedWorld, names } from '../../support/zoned-world.ts';

const nodePatches = (world: ReturnType<typeof aZonedWorld>, name: string): number =>
  world.writes.filter((write) => write.resource === 'nodes' && write.name === name).length;

test('limitation 2: a NoSchedule taint and labels that could not be written are written without another event', async () => {
  const world = aZonedWorld({ a: 3 });
  world.start();
  await world.advance(5);
  world.failNext('patch', 'nodes', 'unavailable', 2);
  world.post('a-0', 'False');
  await world.advance(10);
  assert.ok(world.taints('a-0').includes('not-ready:NoSchedule'));
  world.failNext('patch', 'nodes', 'unavailable', 2);
  world.setLabels('a-1', { 'kubernetes.io/os': 'linux' });
  await world.advance(10);
  assert.equal(world.node('a-1').metadata.labels?.['beta.kubernetes.io/os'], 'linux');
  await world.stop();
});

test('limitation 3: a node that is deleted while it waits leaves the line, and nothing remembers it', async () => {
  const world = aZonedWorld({ a: 20 });
  world.start();
  world.goDark('a-0', 'a-1', 'a-2');
  await world.advance(51);
  const line = world.lifecycle.stages.queues.get('r/a');
  const waiting = line?.keysInOrder()[1] ?? '';
  assert.equal(line?.has(waiting), true);
  world.removeNode(waiting);
  await world.advance(6);
  assert.equal(line?.has(waiting), false);
  assert.equal(world.lifecycle.stages.health.get(waiting), undefined);
  assert.equal(world.lifecycle.stages.zones.zoneOfMember(waiting), undefined);
  assert.equal(world.lifecycle.stages.outage.hasFallen(waiting), false);
  assert.equal(world.lifecycle.stages.marking.admits(waiting), false);
  await world.stop();
});

test('limitation 4: a node whose Ready condition disappears is judged by the startup rule from its last sign of life', async () => {
  const world = aZonedWorld({ a: 3 }, { nodeStartupGracePeriodMs: 80_000 });
  world.start();
  await world.advance(20);
  world.goDark('a-0');
  const stored = world.node('a-0');
  world.putNode({ ...stored, status: { ...stored.status, conditions: [] } });
  await world.advance(79);
  assert.equal(world.ready('a-0'), undefined);
  await world.advance(2);
  assert.equal(world.ready('a-0'), 'Unknown');
  assert.deepEqual(world.taints('a-0'), ['unreachable:NoExecute', 'unreachable:NoSchedule']);
  await world.stop();
});

test('limitation 8: nobody is told that a node is not ready before that has been written', async () => {
  const world = aZonedWorld({ a: 3 });
  world.start();
  world.goDark('a-0');
  await world.advance(49);
  world.failNext('patch', 'nodes', 'unavailable', 4);
  const told = (): number => world.nodeEvents.drafts.filter(({ reason }) => reason === 'NodeNotReady').length;
  await world.advance(1.2);
  assert.equal(world.ready('a-0'), 'True');
  assert.equal(told(), 0);
  await world.advance(20);
  assert.equal(world.ready('a-0'), 'Unknown');
  assert.equal(told(), 1);
  await world.stop();
});

test('limitation 11: the time to a deletion is counted in seconds', async () => {
  const world = aZonedWorld({ a: 3 });
  world.addPod('p', 'a-0', []);
  world.start();
  world.goDark('a-0');
  world.failNext('delete', 'pods', 'unavailable', 4);
  await world.advance(70);
  assert.deepEqual(world.evicted(), ['p']);
  const name = 'taint_eviction_controller_pod_deletion_duration_seconds';
  const seconds = world.meter.series.get(name) ?? 0;
  assert.ok(seconds > 0.5 && seconds < 10, `${seconds} s, four failures long`);
  assert.ok(evictionMetrics.some((metric) => metric.name === name && metric.kind === 'histogram'));
  await world.stop();
});

test('limitation 18: a node that no longer needs its taint, and a write that failed, spend no token', async () => {
  const world = aZonedWorld({ a: 20 });
  world.start();
  world.goDark('a-0', 'a-1', 'a-2');
  await world.advance(51);
  const [second, third] = world.lifecycle.stages.queues.get('r/a')?.keysInOrder() ?? [];
  assert.ok(second !== undefined && third !== undefined);
  world.frozen = true; // the line does not hear that the second is back
  await world.advance(5);
  world.frozen = false;
  world.renewing(second);
  world.post(second, 'True');
  world.failNext('patch', 'nodes', 'forbidden', 1);
  await world.advance(5);
  assert.deepEqual(world.taints(third), ['unreachable:NoExecute', 'unreachable:NoSchedule'], 'at the second turn');
  await world.stop();
});

test('limitation 21: an outage ends though a node that nobody has looked at has come', async () => {
  const world = aZonedWorld({ a: 3, b: 3 }, { controlPlanePathFailureHoldMs: 0 });
  world.start();
  world.goDark(...names(3, 'a-'), ...names(3, 'b-'));
  await world.advance(60);
  assert.equal(world.lifecycle.stages.zones.everyZoneDark, true);
  world.post('b-0', 'True');
  world.addNode('b-new', { zone: 'b' });
  await world.advance(6);
  assert.equal(world.lifecycle.stages.zones.everyZoneDark, false);
  assert.equal(world.kinds().filter((kind) => kind === 'outage-left').length, 1);
  await world.stop();
});

test('limitation 23: a zone of excluded nodes only is neither made nor dropped again and again', async () => {
  const world = aZonedWorld({ a: 3, b: 2 });
  for (const name of names(2, 'b-')) {
    const labels = { ...world.node(name).metadata.labels, 'node.kubernetes.io/exclude-disruption': '' };
    world.setLabels(name, labels);
  }
  world.start();
  await world.advance(60);
  const changes = world.decisions.filter(({ decision }) => decision.kind === 'zone-changed' && decision.zone === 'r/b');
  assert.equal(changes.length, 1);
  assert.deepEqual(world.lifecycle.stages.zones.zones(), ['r/a', 'r/b']);
  await world.stop();
});

test('limitation 26: a patch of taints names the version it was decided upon, in eviction mode too, and is counted when done', async () => {
  const world = aZonedWorld({ a: 3 }, { taintBasedEvictions: false });
  world.start();
  await world.advance(5);
  world.setTaints('a-0', [{ key: 'example.com/x', effect: 'NoSchedule' }]);
  world.post('a-0', 'False');
  await world.advance(10);
  assert.deepEqual(world.taints('a-0'), ['example.com/x:NoSchedule', 'not-ready:NoSchedule']);
  const patch = world.writes.find((write) => write.resource === 'nodes' && write.name === 'a-0');
  assert.ok(patch);
  const { metadata } = patch.body as { metadata: { resourceVersion?: string; uid?: string } };
  assert.ok(metadata.resourceVersion !== undefined && metadata.uid !== undefined);
  const stored = world.node('a-1');
  world.putNode({ ...stored, status: { conditions: [] } });
  await world.advance(10);
  assert.equal(nodePatches(world, 'a-1'), 0, 'and a node without a Ready condition is no fault');
  await world.stop();
});

test('limitation 30: the name of a zone can be printed', async () => {
  const world = aZonedWorld({ a: 3 });
  world.start();
  await world.advance(6);
  const labels = [...world.meter.series.keys()].filter((key) => key.startsWith('node_collector_zone_size'));
  assert.deepEqual(labels, ['node_collector_zone_size{zone="r/a"}']);
  await world.stop();
});

test('limitation 32: a recovered node whose taint cannot be removed yet waits in no line and costs no token', async () => {
  const world = aZonedWorld({ a: 20 });
  world.start();
  world.goDark('a-0', 'a-1', 'a-2');
  await world.advance(51);
  const waiting = world.lifecycle.stages.queues.get('r/a')?.keysInOrder()[0] ?? '';
  world.failNext('patch', 'nodes', 'unavailable', 3);
  world.renewing(waiting);
  world.post(waiting, 'True');
  await world.advance(0.05);
  assert.equal(world.lifecycle.stages.queues.get('r/a')?.has(waiting), false);
  await world.advance(20);
  assert.deepEqual(world.taints(waiting), []);
  await world.stop();
});

test('limitation 33, kept: an excluded node does not count in its zone, and is tainted like any other', async () => {
  const world = aZonedWorld({ a: 5 });
  world.setLabels('a-0', { ...world.node('a-0').metadata.labels, 'node.kubernetes.io/exclude-disruption': '' });
  world.start();
  world.goDark('a-0');
  await world.advance(60);
  assert.deepEqual(world.taints('a-0'), ['unreachable:NoExecute', 'unreachable:NoSchedule']);
  assert.equal(world.lifecycle.stages.zones.plan('r/a')?.why.unready, 0);
  await world.stop();
});
