// A deletion is checked immediately before it is sent, and evaluated again when it was rejected.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ControllerWorld } from '../../../support/controller-world.ts';
import { aNodeView } from '../../../support/builders.ts';
import { EvictorStand } from './evictor-stand.ts';

const unreachable = { key: 'node.kubernetes.io/unreachable', effect: 'NoExecute' } as const;
const maintenance = { key: 'maintenance', effect: 'NoExecute' } as const;
const deletion = ['mark-pod-disrupted p', 'delete-pod p'];

/** A pod whose deletion is decided and waits for its turn to be sent. */
async function waiting(): Promise<{ readonly stand: EvictorStand; readonly go: () => void }> {
  const stand = new EvictorStand();
  const { promise, resolve } = Promise.withResolvers<undefined>();
  stand.lane = promise;
  stand.putPod('p');
  stand.setTaints('n', unreachable);
  await stand.advance(1);
  assert.deepEqual([stand.events(), stand.sent], [['Marking for deletion Pod d/p'], []]);
  return { stand, go: () => resolve(undefined) };
}

test('nothing is deleted after "Cancelling deletion" was recorded', async () => {
  const { stand, go } = await waiting();
  stand.setTaints('n');
  go();
  await stand.advance(100);
  assert.deepEqual(stand.sent, []);
  assert.deepEqual(stand.events(), ['Marking for deletion Pod d/p', 'Cancelling deletion of Pod d/p']);
  await stand.stop();
});

test('nothing is deleted after the taint was removed, also while pods with long lists wait for their evaluation', async () => {
  await using stand = new EvictorStand();
  const { promise: lane, resolve: go } = Promise.withResolvers<undefined>();
  stand.lane = lane;
  const long = Array.from({ length: 500 }, () => ({ operator: 'Exists' }));
  for (let number = 0; number < 20; number += 1) stand.putPod(`long-${number}`, long);
  stand.putPod('p');
  stand.setTaints('n', unreachable);
  await stand.advance(1);
  stand.setTaints('n');
  go(undefined);
  await stand.advance(100);
  assert.deepEqual(stand.sent, []);
});

test('a taint that is removed and added again while a deletion waits is a new decision: announced and sent once', async () => {
  const { stand, go } = await waiting();
  stand.setTaints('n');
  stand.setTaints('n', unreachable);
  go();
  await stand.advance(100);
  assert.deepEqual(stand.sent, deletion);
  assert.deepEqual(stand.events(), [
    'Marking for deletion Pod d/p',
    'Cancelling deletion of Pod d/p',
    'Marking for deletion Pod d/p',
  ]);
  await stand.stop();
});

for (const hold of ['full-disruption', 'stale', 'late-cache', 'node-is-ready', 'lease-is-renewed'] as const) {
  test(`a deletion decided before the hold ${hold} waits for its end, and is announced once`, async () => {
    const { stand, go } = await waiting();
    stand.hold = hold;
    go();
    await stand.advance(100);
    assert.deepEqual(stand.sent, []);
    stand.hold = undefined;
    await stand.advance(2);
    assert.deepEqual(stand.sent, deletion);
    assert.deepEqual(stand.events(), ['Marking for deletion Pod d/p']);
    await stand.stop();
  });
}

test('a hold begins between the condition and the deletion: the deletion is not sent', async () => {
  await using stand = new EvictorStand();
  stand.putPod('p');
  stand.answer = () => {
    stand.hold = 'full-disruption';
    return { result: 'written' };
  };
  stand.setTaints('n', unreachable);
  await stand.advance(100);
  assert.deepEqual(stand.sent, ['mark-pod-disrupted p']);
});

test('a taint that is not a health taint is not held by the health of the node', async () => {
  await using stand = new EvictorStand();
  stand.putPod('p');
  stand.hold = 'full-disruption';
  stand.setTaints('n', maintenance);
  await stand.advance(1);
  assert.deepEqual(stand.sent, deletion);
});

test('while the cache is late, a taint of another client counts only if the live node has it', async () => {
  await using stand = new EvictorStand();
  stand.cacheIsLate = true;
  stand.putPod('p');
  stand.setTaints('n', maintenance);
  await stand.advance(60);
  assert.deepEqual(stand.sent, [], 'the node cannot be read');
  stand.live = aNodeView({ uid: 'uid-n', taints: [unreachable] });
  await stand.advance(60);
  assert.deepEqual(stand.sent, [], 'the taint was removed');
  assert.deepEqual(stand.held(), ['late-cache'], 'noted once');
  stand.live = aNodeView({ uid: 'uid-n', taints: [maintenance] });
  await stand.advance(15);
  assert.deepEqual(stand.sent, deletion);
});

test('while the cache is late, a live read for one taint does not confirm another one', async () => {
  await using stand = new EvictorStand();
  stand.cacheIsLate = true;
  stand.hold = 'stale';
  stand.putPod('p');
  stand.live = aNodeView({ uid: 'uid-n', taints: [unreachable] });
  stand.setTaints('n', unreachable, maintenance);
  await stand.advance(60);
  assert.deepEqual(stand.sent, []);
  stand.live = aNodeView({ uid: 'uid-n', taints: [unreachable, maintenance] });
  await stand.advance(15);
  assert.deepEqual(stand.sent, deletion, 'due for maintenance, while the health of the node is held');
});

test('a pod that another client deleted while the deletion waited is not deleted again', async () => {
  const { stand, go } = await waiting();
  stand.putPod('p', [], { deletionTimestamp: '2026-01-02T03:04:05Z' });
  go();
  await stand.advance(100);
  assert.deepEqual(stand.sent, []);
  assert.equal(stand.evictor.scheduled().size, 0);
  await stand.stop();
});

test('a rejected deletion is evaluated again: the current tolerations count, though the event was missed', async () => {
  await using stand = new EvictorStand();
  stand.putPod('p');
  stand.answer = ({ kind }) => {
    if (kind !== 'delete-pod') return { result: 'written' };
    // As the writer does after a conflict: the pod was read, and is visible from now on.
    stand.putPod('p', [{ operator: 'Exists' }]);
    return { result: 'failed', reason: 'conflict', retryAfterMs: undefined };
  };
  stand.setTaints('n', unreachable);
  await stand.advance(100);
  assert.deepEqual(stand.sent, deletion);
  assert.deepEqual(stand.events(), ['Marking for deletion Pod d/p', 'Cancelling deletion of Pod d/p']);
});

test('a single 409 or 404 that no object explains does not prevent the deletion of a pod', async () => {
  for (const reason of ['conflict', 'not-found'] as const) {
    await using world = new ControllerWorld();
    world.addNode('n0');
    world.renewing('n0');
    world.addPod('p', 'n0');
    await world.running(1);
    world.failNext('patch', 'pods', reason);
    world.failNext('delete', 'pods', reason);
    world.setTaints('n0', [maintenance]);
    await world.advance(5);
    assert.deepEqual(world.evicted(), ['p'], reason);
    assert.equal(world.evictionEvents.drafts.length, 1, 'announced once');
  }
});

test('a pod that is gone in the watch before its deletion is answered was evicted, not cancelled', async () => {
  await using stand = new EvictorStand();
  const { promise, resolve } = Promise.withResolvers<undefined>();
  stand.answer = async (command) => {
    if (command.kind === 'delete-pod') await promise;
    return { result: 'written' };
  };
  stand.putPod('p');
  stand.setTaints('n', unreachable);
  await stand.advance(1);
  assert.deepEqual(stand.sent, deletion);
  stand.removePod('p');
  resolve(undefined);
  await stand.advance(1);
  const kinds = stand.decisions.map(({ kind }) => kind);
  assert.deepEqual([kinds.includes('eviction-cancelled'), kinds.at(-1)], [false, 'pod-evicted']);
  assert.deepEqual(stand.events(), ['Marking for deletion Pod d/p']);
});

for (const [title, answer] of [
  ['refused', { result: 'failed', reason: 'forbidden', retryAfterMs: undefined }],
  ['answered that it is gone', { result: 'gone' }],
] as const) {
  test(`a pod whose deletion is ${title}, and that another client removes, has an end in its history`, async () => {
    await using stand = new EvictorStand();
    stand.answer = (command) => (command.kind === 'delete-pod' ? answer : { result: 'written' });
    stand.putPod('p');
    stand.setTaints('n', unreachable);
    await stand.advance(1);
    stand.removePod('p');
    await stand.advance(5);
    const ends = stand.decisions.filter(({ kind }) => kind === 'eviction-cancelled');
    assert.deepEqual(ends, [{ kind: 'eviction-cancelled', pod: 'd/p', node: 'n', why: 'pod-gone' }]);
  });
}

test('a pod that another client removes while its deletion is under way, which is refused, has an end in its history', async () => {
  await using stand = new EvictorStand();
  const { promise, resolve } = Promise.withResolvers<undefined>();
  stand.answer = async (command) => {
    if (command.kind !== 'delete-pod') return { result: 'written' };
    await promise;
    return { result: 'failed', reason: 'internal', retryAfterMs: undefined };
  };
  stand.putPod('p');
  stand.setTaints('n', unreachable);
  await stand.advance(1);
  stand.removePod('p');
  resolve(undefined);
  await stand.advance(5);
  assert.equal(stand.decisions.filter(({ kind }) => kind === 'eviction-cancelled').length, 1);
});
