// Detection and recovery do not wait for other work when the request rate is limited.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { defaultPodGcOptions } from '../../../src/controller/model/options.ts';
import { ControllerWorld } from '../../support/controller-world.ts';
import { NarrowLanes } from '../../support/narrow-lanes.ts';
import { PacedLanes } from '../../support/paced-lanes.ts';
import { names } from '../../support/zoned-world.ts';

function aWorldAt(qps: number, burst: number): ControllerWorld {
  return new ControllerWorld({}, {}, defaultPodGcOptions, (clock) => new PacedLanes(clock, qps, burst));
}

test('600 silent nodes at 20 requests per second do not keep a recovered node tainted', async () => {
  await using world = aWorldAt(20, 30);
  const all = names(1_800);
  world.addNodes(all, (place) => ({ zone: `z${place % 3}` }));
  await world.running(10);
  await world.silentFor(80, 'n0');
  assert.deepEqual(world.taints('n0'), ['unreachable:NoExecute', 'unreachable:NoSchedule']);
  await world.silentFor(55, ...all.slice(1, 601));
  assert.ok(
    all.slice(1, 601).some((name) => world.ready(name) === 'True'),
    'the storm is still being written',
  );
  world.recover('n0');
  await world.advance(2);
  assert.deepEqual(world.taints('n0'), []);
});

test('labels and taints of 60 new nodes at 5 requests per second do not delay the detection of a silent node', async () => {
  await using world = aWorldAt(5, 10);
  const all = names(20);
  world.addNodes(all);
  await world.running(20);
  await world.silentFor(49, 'n0');
  const fresh = names(60, 'new');
  for (const name of fresh) {
    world.addNode(name, { taints: [{ key: 'node.kubernetes.io/not-ready', effect: 'NoSchedule' }] });
    world.setLabels(name, { 'kubernetes.io/os': 'linux', 'kubernetes.io/arch': 'amd64' });
  }
  world.renewing(...fresh);
  await world.advance(4);
  assert.equal(world.ready('n0'), 'Unknown');
  assert.ok(
    fresh.some((name) => world.taints(name).length > 0),
    'the new nodes are not done yet',
  );
});

test('pods of lost nodes that are marked one by one do not delay the detection of the next node', async () => {
  await using world = new ControllerWorld({}, {}, defaultPodGcOptions, () => new NarrowLanes(2));
  const lost = names(10, 'lost');
  world.addNodes(names(30));
  world.addNodes(lost);
  for (const node of lost) for (const pod of names(60, `${node}-p`)) world.addPod(pod, node);
  await world.running(20);
  // 40 writes a second, of 62 that are due each second.
  const end = new AbortController();
  world.beforeWrite = () => world.clock.sleep(50, end.signal);
  for (const node of lost) {
    world.renewOnce(node);
    await world.silentFor(1, node);
  }
  await world.advance(52);
  const ready = lost.flatMap((node) => names(60, `${node}-p`)).filter((pod) => world.podReady(pod) === 'True');
  end.abort();
  assert.ok(ready.length > 0, 'the pods are not done yet');
  for (const node of lost) {
    const [status, taint] = world.writes.filter(({ resource, name }) => resource === 'nodes' && name === node);
    assert.ok(status !== undefined && taint !== undefined, node);
    // Each waits for a slot, and not for its turn among the pods: a request of each slot before it.
    assert.ok(taint.atSeconds - status.atSeconds < 0.1, `${node}: ${status.atSeconds} ${taint.atSeconds} s`);
  }
});
