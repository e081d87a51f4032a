import assert from 'node:assert/strict';
import { test } from 'node:test';
import { viewDaemonSet } from '../../../src/api/daemonset.ts';
import { ControllerWorld } from '../../support/controller-world.ts';

/** Six nodes in two zones that renew their leases, in the older mode. */
function aCluster(): ControllerWorld {
  const world = new ControllerWorld({ taintBasedEvictions: false, podEvictionTimeoutMs: 300_000 });
  for (let i = 0; i < 6; i++) world.addNode(`n${i}`, { zone: `z${i % 2}` });
  world.renewing(...Array.from({ length: 6 }, (_, i) => `n${i}`));
  world.addPod('plain', 'n0');
  world.addPod('elsewhere', 'n1');
  return world;
}

test('eviction mode: a dark node loses its pods after the timeout, and gets no NoExecute taint', async () => {
  const world = aCluster();
  const selector = { matchLabels: { daemon: 'yes' } };
  world.daemonSets.set(
    'default/ds',
    viewDaemonSet({ metadata: { namespace: 'default', name: 'ds' }, spec: { selector } }),
  );
  world.addPod('agent', 'n0', [], { labels: { daemon: 'yes' } });
  world.start();
  world.goDark('n0');
  await world.advance(299);
  assert.equal(world.ready('n0'), 'Unknown');
  assert.deepEqual(world.taints('n0'), ['unreachable:NoSchedule']);
  assert.deepEqual(world.evicted(), []);
  await world.advance(3);
  assert.deepEqual(world.evicted(), ['plain']);
  assert.deepEqual(world.taints('n0'), ['unreachable:NoSchedule']);
  const deletion = world.writes.find(({ verb }) => verb === 'delete');
  assert.ok(deletion?.uid?.startsWith('uid-plain-'));
  assert.ok(world.nodeEvents.drafts.some(({ reason }) => reason === 'DeletingAllPods'));
  await world.stop();
});

test('eviction mode: a node that comes back in time keeps its pods', async () => {
  const world = aCluster();
  world.start();
  world.goDark('n0');
  await world.advance(200);
  world.renewing('n0');
  world.post('n0', 'True');
  await world.advance(600);
  assert.deepEqual(world.evicted(), []);
  assert.deepEqual(world.taints('n0'), []);
  await world.stop();
});

test('eviction mode: while every zone is dark nobody leaves, and afterwards everybody gets the whole timeout again', async () => {
  const world = aCluster();
  world.start();
  world.goDark('n0', 'n1', 'n2', 'n3', 'n4', 'n5');
  await world.advance(1_200);
  assert.deepEqual(world.evicted(), []);
  world.renewing('n1', 'n2', 'n3', 'n4', 'n5');
  for (const name of ['n1', 'n2', 'n3', 'n4', 'n5']) world.post(name, 'True');
  await world.advance(290);
  assert.deepEqual(world.evicted(), []);
  await world.advance(30);
  assert.deepEqual(world.evicted(), ['plain']);
  await world.stop();
});

test('eviction mode: a quiet healthy cluster costs no write', async () => {
  const world = aCluster();
  world.start();
  await world.advance(600);
  assert.deepEqual(world.writes, []);
  await world.stop();
});
