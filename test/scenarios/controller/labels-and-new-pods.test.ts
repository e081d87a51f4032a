import assert from 'node:assert/strict';
import { test } from 'node:test';
import { diffLabels } from '../../../src/controller/labels/diff-labels.ts';
import { ControllerWorld } from '../../support/controller-world.ts';

test('deprecated labels follow the current ones and are never added without them', () => {
  assert.deepEqual(diffLabels({}), {});
  assert.deepEqual(diffLabels({ 'kubernetes.io/os': 'linux', 'kubernetes.io/arch': 'amd64' }), {
    'beta.kubernetes.io/os': 'linux',
    'beta.kubernetes.io/arch': 'amd64',
  });
  assert.deepEqual(diffLabels({ 'kubernetes.io/os': 'linux', 'beta.kubernetes.io/os': 'windows' }), {
    'beta.kubernetes.io/os': 'linux',
  });
  assert.deepEqual(diffLabels({ 'beta.kubernetes.io/os': 'linux' }), {});
});

test('a pod that is bound to a node that is not ready is marked; earlier pods are left to the kubelet', async () => {
  await using world = new ControllerWorld();
  world.addNodes(['a', 'b', 'c']);
  world.addPod('before', 'a', [{ operator: 'Exists' }]);
  await world.running(1);
  world.post('a', 'False');
  await world.advance(1);
  world.addPod('newcomer', 'a', [{ operator: 'Exists' }]);
  await world.advance(1);
  const ready = (name: string): string | undefined => world.podReady(name);
  assert.deepEqual([ready('before'), ready('newcomer')], ['True', 'False']);
});

test('the labels are written once, and a failed write is retried', async () => {
  await using world = new ControllerWorld();
  world.addNodes(['a', 'b']);
  await world.running(1);
  world.failNext('patch', 'nodes', 'unavailable', 2);
  world.setLabels('a', { 'kubernetes.io/os': 'linux' });
  await world.advance(60);
  const labelled = world.writes.filter(({ body }) => JSON.stringify(body ?? {}).includes('beta.kubernetes.io/os'));
  assert.equal(labelled.length, 1);
});

test('a pod observed before its node is marked when the node appears and is not ready', async () => {
  await using world = new ControllerWorld();
  world.addNode('b');
  world.renewing('b');
  world.addPod('early', 'late-node', [{ operator: 'Exists' }]);
  await world.running(1);
  world.addNode('late-node', { ready: 'False' });
  world.renewing('late-node');
  await world.advance(2);
  assert.equal(world.podReady('early'), 'False');
});
