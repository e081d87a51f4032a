// Detection and recovery do not wait for other work when the request rate is limited.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { defaultPodGcOptions } from '../../../src/controller/model/options.ts';
import { ControllerWorld } from '../../support/controller-world.ts';
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
