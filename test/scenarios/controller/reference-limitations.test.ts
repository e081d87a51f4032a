// Known limitations of kube-controller-manager that this controller does not have: one test for each entry of decision
// 0019 without another test. Each test fails with the behaviour of kube-controller-manager.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as evictionMetrics from '../../../src/controller/taint-eviction/metrics.ts';
import { aZonedWorld, names } from '../../support/zoned-world.ts';

const nodePatches = (world: ReturnType<typeof aZonedWorld>, name: string): number =>
  world.writes.filter((write) => write.resource === 'nodes' && write.name === name).length;

test('limitation 2: a NoSchedule taint and labels whose write failed are written without another event', async () => {
  await using world = await aZonedWorld({ a: 3 }).running(5);
  world.failNext('patch', 'nodes', 'unavailable', 2);
  world.post('a-0', 'False');
  await world.advance(10);
  assert.ok(world.taints('a-0').includes('not-ready:NoSchedule'));
  world.failNext('patch', 'nodes', 'unavailable', 2);
  world.setLabels('a-1', { 'kubernetes.io/os': 'linux' });
  await world.advance(10);
  assert.equal(world.node('a-1').metadata.labels?.['beta.kubernetes.io/os'], 'linux');
});

test('limitation 3: a node that is deleted while it is queued is dequeued and leaves no state', async () => {
  await using world = aZonedWorld({ a: 20 }).start();
  await world.silentFor(51, 'a-0', 'a-1', 'a-2');
  const line = world.lifecycle.stages.queues.get('r/a');
  const waiting = line?.keysInOrder()[1] ?? '';
  assert.equal(line?.has(waiting), true);
  world.removeNode(waiting);
  await world.advance(6);
  assert.equal(line?.has(waiting), false);
  assert.equal(world.lifecycle.stages.health.get(waiting), undefined);
  assert.equal(world.lifecycle.stages.zones.zoneOfMember(waiting), undefined);
  assert.equal(world.lifecycle.stages.outage.isSilent(waiting), false);
  assert.equal(world.lifecycle.stages.marking.admits(waiting), false);
});

test('limitation 4: a node whose Ready condition disappears is evaluated by the startup rule from its last heartbeat', async () => {
  await using world = await aZonedWorld({ a: 3 }, { nodeStartupGracePeriodMs: 80_000 }).running(20);
  world.goSilent('a-0');
  const stored = world.node('a-0');
  world.putNode({ ...stored, status: { ...stored.status, conditions: [] } });
  await world.advance(79);
  assert.equal(world.ready('a-0'), undefined);
  await world.advance(2);
  assert.equal(world.ready('a-0'), 'Unknown');
  assert.deepEqual(world.taints('a-0'), ['unreachable:NoExecute', 'unreachable:NoSchedule']);
});

test('limitation 8: no Event reports a node as not ready before that has been written', async () => {
  await using world = aZonedWorld({ a: 3 }).start();
  await world.silentFor(49, 'a-0');
  world.failNext('patch', 'nodes', 'unavailable', 4);
  const recorded = (): number => world.nodeEventsOf('NodeNotReady').length;
  await world.advance(1.2);
  assert.equal(world.ready('a-0'), 'True');
  assert.equal(recorded(), 0);
  await world.advance(20);
  assert.equal(world.ready('a-0'), 'Unknown');
  assert.equal(recorded(), 1);
});

test('limitation 11: the delay of a deletion is measured in seconds', async () => {
  await using world = aZonedWorld({ a: 3 });
  world.addPod('p', 'a-0', []);
  world.start();
  world.goSilent('a-0');
  world.failNext('delete', 'pods', 'unavailable', 4);
  await world.advance(70);
  assert.deepEqual(world.evicted(), ['p']);
  const name = 'taint_eviction_controller_pod_deletion_duration_seconds';
  const seconds = world.meter.series.get(name) ?? 0;
  assert.ok(seconds > 0.5 && seconds < 10, `${seconds} s, four failures long`);
  assert.ok(Object.values(evictionMetrics).some((metric) => metric.name === name && metric.kind === 'histogram'));
});

test('limitation 18: a node that no longer needs its taint, and a failed write, spend no token', async () => {
  await using world = aZonedWorld({ a: 20 }).start();
  await world.silentFor(51, 'a-0', 'a-1', 'a-2');
  const [second, third] = world.lifecycle.stages.queues.get('r/a')?.keysInOrder() ?? [];
  assert.ok(second !== undefined && third !== undefined);
  world.frozen = true; // the line does not hear that the second is back
  await world.advance(5);
  world.frozen = false;
  world.recover(second);
  world.failNext('patch', 'nodes', 'forbidden', 1);
  await world.advance(5);
  assert.deepEqual(world.taints(third), ['unreachable:NoExecute', 'unreachable:NoSchedule'], 'with the second token');
});

test('limitation 21: a full disruption ends although a new node has not been evaluated', async () => {
  await using world = aZonedWorld({ a: 3, b: 3 }, { controlPlanePathFailureHoldMs: 0 }).start();
  await world.silentFor(60, ...names(3, 'a-'), ...names(3, 'b-'));
  assert.equal(world.lifecycle.stages.zones.fullDisruption, true);
  world.post('b-0', 'True');
  world.addNode('b-new', { zone: 'b' });
  await world.advance(6);
  assert.equal(world.lifecycle.stages.zones.fullDisruption, false);
  assert.equal(world.decided('full-disruption-left').length, 1);
});

test('limitation 23: a zone of excluded nodes only is not created and dropped repeatedly', async () => {
  await using world = aZonedWorld({ a: 3, b: 2 });
  for (const name of names(2, 'b-')) {
    const labels = { ...world.node(name).metadata.labels, 'node.kubernetes.io/exclude-disruption': '' };
    world.setLabels(name, labels);
  }
  await world.running(60);
  const changes = world.decisions.filter(({ decision }) => decision.kind === 'zone-changed' && decision.zone === 'r/b');
  assert.equal(changes.length, 1);
  assert.deepEqual(world.lifecycle.stages.zones.zones(), ['r/a', 'r/b']);
});

test('limitation 26: a patch of taints contains the evaluated resourceVersion, in eviction mode too, and is counted when accepted', async () => {
  await using world = await aZonedWorld({ a: 3 }, { taintBasedEvictions: false }).running(5);
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
  assert.equal(nodePatches(world, 'a-1'), 0, 'a node without a Ready condition causes no exception');
});

test('limitation 30: the name of a zone is printable', async () => {
  await using world = await aZonedWorld({ a: 3 }).running(6);
  const labels = [...world.meter.series.keys()].filter((key) => key.startsWith('node_collector_zone_size'));
  assert.deepEqual(labels, ['node_collector_zone_size{zone="r/a"}']);
});

test('limitation 32: a recovered node whose taint cannot be removed yet is not queued and spends no token', async () => {
  await using world = aZonedWorld({ a: 20 }).start();
  await world.silentFor(51, 'a-0', 'a-1', 'a-2');
  const waiting = world.lifecycle.stages.queues.get('r/a')?.keysInOrder()[0] ?? '';
  world.failNext('patch', 'nodes', 'unavailable', 3);
  world.recover(waiting);
  await world.advance(0.05);
  assert.equal(world.lifecycle.stages.queues.get('r/a')?.has(waiting), false);
  await world.advance(20);
  assert.deepEqual(world.taints(waiting), []);
});

test('limitation 33, kept: an excluded node does not count in its zone, and is tainted like any other', async () => {
  await using world = aZonedWorld({ a: 5 });
  world.setLabels('a-0', { ...world.node('a-0').metadata.labels, 'node.kubernetes.io/exclude-disruption': '' });
  await world.start().silentFor(60, 'a-0');
  assert.deepEqual(world.taints('a-0'), ['unreachable:NoExecute', 'unreachable:NoSchedule']);
  assert.equal(world.lifecycle.stages.zones.plan('r/a')?.why.unready, 0);
});
