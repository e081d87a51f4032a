// Deletions without a grace period while the cache of nodes is behind, or while nodes cannot be read.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ControllerWorld } from '../../support/controller-world.ts';
import { settled } from '../../support/manual-clock.ts';

const outOfService = { key: 'node.kubernetes.io/out-of-service', value: 'nodeshutdown', effect: 'NoExecute' };
const nodes = ['a', 'b', 'c'];

function aWorld(): ControllerWorld {
  const world = new ControllerWorld({}, { podGc: true });
  for (const name of nodes) world.addNode(name);
  world.renewing(...nodes);
  return world;
}

/** The pod is terminating, for whatever reason, and waits for its kubelet. */
function terminate(world: ControllerWorld, name: string): void {
  world.changePod(name, (pod) => {
    const deletion = { deletionTimestamp: '2026-01-02T03:05:05Z', deletionGracePeriodSeconds: 30 };
    return { ...pod, metadata: { ...pod.metadata, ...deletion } };
  });
}

test('an out-of-service node that is back keeps its terminating pods while the cache of nodes is behind', async () => {
  await using world = await aWorld().running(30);
  world.addPod('db', 'a', [{ operator: 'Exists' }]);
  world.post('a', 'False');
  world.setTaints('a', [outOfService]);
  await world.advance(30);
  world.nodesFrozen = true;
  world.setTaints('a', []);
  world.post('a', 'True');
  terminate(world, 'db');
  await world.advance(120);
  assert.deepEqual(world.evicted(), []);
});

test('a terminating pod of an out-of-service node is deleted once the node can be read', async () => {
  await using world = await aWorld().running(30);
  world.addPod('db', 'a', [{ operator: 'Exists' }]);
  world.post('a', 'False');
  world.setTaints('a', [outOfService]);
  await world.advance(30);
  world.failNext('get', 'nodes', 'timeout', 2);
  terminate(world, 'db');
  await world.advance(10);
  assert.deepEqual(world.evicted(), []);
  await world.advance(60);
  assert.ok(world.evicted().includes('db'));
});

test('where nodes may not be read the cached node decides about out-of-service pods, as in kube-controller-manager', async () => {
  await using world = await aWorld().running(30);
  world.addPod('db', 'a', [{ operator: 'Exists' }]);
  world.post('a', 'False');
  world.setTaints('a', [outOfService]);
  await world.advance(30);
  world.failNext('get', 'nodes', 'forbidden', 100);
  terminate(world, 'db');
  await world.advance(30);
  assert.ok(world.evicted().includes('db'));
});

test('a node that registers again while the pods of its predecessor are deleted keeps those that remain', async () => {
  await using world = await aWorld().running(10);
  for (let i = 0; i < 40; i += 1) world.addPod(`p${i}`, 'a', [{ operator: 'Exists' }]);
  world.removeNode('a');
  const slow = Promise.withResolvers<undefined>();
  world.beforeWrite = ({ resource }) => (resource === 'pods' ? slow.promise : Promise.resolve());
  await world.advance(70);
  world.nodesFrozen = true;
  world.addNode('a');
  await world.advance(60);
  slow.resolve(undefined);
  await settled();
  await world.advance(100);
  assert.equal(world.evicted().length, 16, 'those that were under way');
});

test('that a node was gone before it registered again is no reason to delete a pod that was bound since', async () => {
  await using world = aWorld();
  world.addPod('old', 'a', [{ operator: 'Exists' }]);
  await world.running(1);
  world.removeNode('a');
  await world.advance(48);
  world.addNode('a');
  world.setTaints('a', [{ key: 'cni.example.com/agent-not-ready', value: 'true', effect: 'NoExecute' }]);
  await world.advance(1);
  world.nodesFrozen = true;
  const reads: number[] = [];
  const slow = Promise.withResolvers<undefined>();
  world.beforeRead = async (_resource, name) => {
    if (name === 'a') reads.push(world.seconds());
    if (reads.length === 1) await slow.promise;
  };
  world.addPod('fresh', 'a'); // due at once, so taint eviction reads the node
  await world.advance(2);
  world.removeNode('a');
  slow.resolve(undefined);
  await world.advance(1);
  world.addNode('a');
  world.addPod('bound', 'a');
  await world.advance(13);
  assert.deepEqual(world.evicted(), []);
  assert.deepEqual(reads, [50, 60], 'pod garbage collection reads it again');
});

test('missing nodes whose reads do not end delay the next round for half a minute, and each is tried', async () => {
  await using world = await aWorld().running(10);
  for (let i = 0; i < 30; i += 1) world.addPod(`orphan-${i}`, `gone-${i}`);
  let hanging = true;
  world.beforeRead = (_resource, name) =>
    hanging && name.startsWith('gone') ? new Promise(() => undefined) : Promise.resolve();
  await world.advance(100);
  world.addPod('lost', '', []);
  terminate(world, 'lost');
  await world.advance(60);
  assert.ok(world.evicted().includes('lost'), 'the next round is not delayed by every missing node');
  await world.advance(600);
  const tried = world.decisions.filter(({ decision }) => decision.kind === 'orphans-kept');
  assert.ok(new Set(tried.map(({ decision }) => ('node' in decision ? decision.node : ''))).size >= 30);
  hanging = false;
  await world.advance(60);
  assert.equal(world.evicted().filter((name) => name.startsWith('orphan')).length, 30);
});

test('pods whose status the API server accepts no patch of are deleted all the same', async () => {
  await using world = await aWorld().running(10);
  world.addPod('orphan', 'gone');
  world.addPod('web', 'a');
  world.failNext('patch', 'pods', 'invalid', 1_000);
  await world.silentFor(120, 'a');
  assert.deepEqual([...new Set(world.evicted())].sort(), ['orphan', 'web']);
});

test('a patch of the status that is rejected for another reason is retried before the deletion', async () => {
  await using world = await aWorld().running(10);
  world.addPod('web', 'a');
  world.failNext('patch', 'pods', 'forbidden', 1_000);
  await world.silentFor(120, 'a');
  assert.deepEqual(world.evicted(), []);
});

test('a completed pod that runs again in the API, which the watch does not show, stays in every round', async () => {
  const world = new ControllerWorld({}, { podGc: true }, { terminatedPodGcThreshold: 0, terminatedPodGcAgeMs: 60_000 });
  for (const name of nodes) world.addNode(name);
  world.renewing(...nodes);
  world.addPod('job', 'b');
  world.changePod('job', (pod) => ({ ...pod, status: { ...pod.status, phase: 'Succeeded' } }));
  await using _ = await world.running(30);
  // As after a restore of etcd.
  world.podsFrozen = true;
  world.changePod('job', (pod) => ({ ...pod, status: { ...pod.status, phase: 'Running' } }));
  await world.advance(120);
  assert.equal(world.pod('job')?.status?.phase, 'Running');
  assert.deepEqual(world.evicted(), []);
});
