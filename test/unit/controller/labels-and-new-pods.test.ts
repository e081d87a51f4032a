import assert from 'node:assert/strict';
import { test } from 'node:test';
import { deriveMissingLabels } from '../../../src/controller/labels/derive-labels.ts';
import { ControllerWorld } from '../../support/controller-world.ts';

test('older labels follow the modern ones and are never made without them', () => {
  assert.deepEqual(deriveMissingLabels({}), {});
  assert.deepEqual(deriveMissingLabels({ 'kubernetes.io/os': 'linux', 'kubernetes.io/arch': 'amd64' }), {
    'beta.kubernetes.io/os': 'linux',
    'beta.kubernetes.io/arch': 'amd64',
  });
  assert.deepEqual(deriveMissingLabels({ 'kubernetes.io/os': 'linux', 'beta.kubernetes.io/os': 'windows' }), {
    'beta.kubernetes.io/os': 'linux',
  });
  assert.deepEqual(deriveMissingLabels({ 'beta.kubernetes.io/os': 'linux' }), {});
});

test('a pod that comes to a node which is not ready is marked; those that were there before are left to the kubelet', async () => {
  const world = new ControllerWorld();
  for (const name of ['a', 'b', 'c']) world.addNode(name);
  world.renewing('a', 'b', 'c');
  world.addPod('before', 'a', [{ operator: 'Exists' }]);
  world.start();
  await world.advance(1);
  world.post('a', 'False');
  await world.advance(1);
  world.addPod('newcomer', 'a', [{ operator: 'Exists' }]);
  await world.advance(1);
  const ready = (name: string): string | undefined =>
    world.pod(name)?.status?.conditions?.find(({ type }) => type === 'Ready')?.status;
  assert.deepEqual([ready('before'), ready('newcomer')], ['True', 'False']);
  await world.stop();
});

test('the labels are written once, and a failed write is repeated', async () => {
  const world = new ControllerWorld();
  world.addNode('a');
  world.addNode('b');
  world.renewing('a', 'b');
  world.start();
  await world.advance(1);
  world.failNext('patch', 'nodes', 'unavailable', 2);
  world.setLabels('a', { 'kubernetes.io/os': 'linux' });
  await world.advance(60);
  const labelled = world.writes.filter(({ body }) => JSON.stringify(body ?? {}).includes('beta.kubernetes.io/os'));
  assert.equal(labelled.length, 1);
  await world.stop();
});

test('a pod that is heard of before its node is marked when the node appears and is not ready', async () => {
  const world = new ControllerWorld();
  world.addNode('b');
  world.renewing('b');
  world.addPod('early', 'late-node', [{ operator: 'Exists' }]);
  world.start();
  await world.advance(1);
  world.addNode('late-node', { ready: 'False' });
  world.renewing('late-node');
  await world.advance(2);
  assert.equal(world.pod('early')?.status?.conditions?.find(({ type }) => type === 'Ready')?.status, 'False');
  await world.stop();
});
