// A missed event is recovered from current state, and no state is kept for deleted objects.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { aWorldOf } from '../../../support/zoned-world.ts';
import { EvictorStand } from './evictor-stand.ts';

const taint = { key: 'x', effect: 'NoExecute' } as const;
const health = { key: 'node.kubernetes.io/unreachable', effect: 'NoExecute' } as const;
const tolerating = (seconds: number) => [{ key: 'x', operator: 'Exists', tolerationSeconds: seconds }];
const deletion = ['mark-pod-disrupted p', 'delete-pod p'];

test('a taint whose event was missed is found by a resync, and its pods are deleted', async () => {
  await using stand = new EvictorStand();
  stand.setTaints('n');
  stand.putPod('p', tolerating(60));
  await stand.advance(100);
  stand.evictor.resync(stand.putNode('n', taint));
  await stand.advance(59);
  assert.deepEqual(stand.sent, []);
  await stand.advance(2);
  assert.deepEqual(stand.sent, deletion);
});

test('a removed taint whose event was missed cancels the deletion', async () => {
  await using stand = new EvictorStand();
  stand.putPod('p', tolerating(60));
  stand.setTaints('n', taint);
  stand.evictor.resync(stand.putNode('n'));
  await stand.advance(100);
  assert.deepEqual([stand.sent, stand.events()], [[], ['Cancelling deletion of Pod d/p']]);
});

test('an unknown node is resynced from the times of its taints and pods', async () => {
  await using stand = new EvictorStand();
  stand.putPod('p', tolerating(60));
  const timeAdded = new Date(stand.clock.nowMs()).toISOString();
  await stand.advance(40);
  stand.evictor.resync(stand.putNode('n', { ...taint, timeAdded }));
  await stand.advance(18);
  assert.deepEqual(stand.sent, []);
  await stand.advance(4);
  assert.deepEqual(stand.sent, deletion);
});

test('a pod whose accepted deletion a restore of etcd has undone is deleted again', async () => {
  await using stand = new EvictorStand();
  stand.setPod('p', tolerating(5));
  stand.setTaints('n', taint);
  await stand.advance(10);
  assert.deepEqual(stand.sent, deletion);
  stand.setPod('p', tolerating(5), { deletionTimestamp: '2026-01-02T03:04:05Z' });
  await stand.advance(10);
  stand.setPod('p', tolerating(5));
  await stand.advance(10);
  assert.deepEqual(stand.sent, [...deletion, ...deletion]);
});

test('a deletion that was accepted, and after which the pod never terminates, is repeated after five minutes', async () => {
  await using stand = new EvictorStand();
  stand.setPod('p', tolerating(5));
  const node = stand.putNode('n', taint);
  stand.setTaints('n', taint);
  await stand.advance(290);
  stand.evictor.resync(node);
  await stand.advance(5);
  assert.deepEqual(stand.sent, deletion, 'the cache may be behind');
  await stand.advance(15);
  stand.evictor.resync(node);
  await stand.advance(10);
  assert.deepEqual(stand.sent, [...deletion, ...deletion]);
});

test('a hold that ended and begins again starts at zero, and is noted again', async () => {
  await using stand = new EvictorStand();
  const failed = { result: 'failed', reason: 'unavailable', retryAfterMs: 1_000 } as const;
  stand.answer = () => failed;
  stand.hold = 'lease-is-renewed';
  stand.setPod('p', [{ key: health.key, operator: 'Exists', tolerationSeconds: 5 }]);
  stand.setTaints('n', health);
  await stand.advance(20);
  assert.deepEqual([stand.held(), stand.sent], [['lease-is-renewed'], []]);
  stand.hold = undefined;
  await stand.advance(400);
  assert.ok(stand.sent.length > 0, 'it is tried, and fails');
  stand.hold = 'lease-is-renewed';
  stand.answer = () => ({ result: 'written' });
  const tried = stand.sent.length;
  await stand.advance(60);
  assert.deepEqual(stand.held(), ['lease-is-renewed', 'lease-is-renewed']);
  assert.deepEqual(
    stand.decisions.filter(({ kind }) => kind === 'eviction-hold-expired'),
    [],
    'time in which it was not held does not count',
  );
  assert.equal(stand.sent.length, tried);
});

test('a resync and a sweep without changes record, move and write nothing', async () => {
  await using stand = new EvictorStand();
  stand.putPod('p', tolerating(60));
  stand.putPod('q', [{ operator: 'Exists' }]);
  stand.setTaints('n', taint);
  await stand.advance(30);
  const dueAtMs = stand.evictor.scheduled().get('d/p');
  const noted = stand.decisions.length;
  for (let i = 0; i < 3; i += 1) {
    stand.evictor.resync(stand.putNode('n', taint));
    stand.sweep();
    await stand.advance(5);
  }
  assert.deepEqual([...stand.evictor.scheduled()], [['d/p', dueAtMs]]);
  assert.deepEqual([stand.decisions.length, stand.events(), stand.sent], [noted, [], []]);
  await stand.advance(16);
  assert.deepEqual(stand.sent, deletion);
});

test('a timed eviction that is in no queue is queued again', async () => {
  for (const find of ['resync', 'sweep'] as const) {
    await using stand = new EvictorStand();
    stand.putPod('p');
    stand.answer = () => ({ result: 'not-leader' });
    stand.setTaints('n', taint);
    await stand.advance(100);
    assert.deepEqual(stand.sent, ['mark-pod-disrupted p'], 'and nothing more');
    stand.answer = () => ({ result: 'written' });
    if (find === 'resync') stand.evictor.resync(stand.putNode('n', taint));
    else stand.sweep();
    await stand.advance(1);
    assert.deepEqual(stand.sent, ['mark-pod-disrupted p', ...deletion], find);
    assert.deepEqual(stand.events(), ['Marking for deletion Pod d/p']);
  }
});

test('a resync does not shorten the back-off of a retry', async () => {
  await using stand = new EvictorStand();
  stand.putPod('p');
  stand.answer = () => ({ result: 'failed', reason: 'too-many-requests', retryAfterMs: 20_000 });
  stand.setTaints('n', taint);
  for (let i = 0; i < 19; i += 1) {
    await stand.advance(1);
    stand.evictor.resync(stand.putNode('n', taint));
    stand.sweep();
  }
  assert.deepEqual(stand.sent, ['mark-pod-disrupted p']);
});

test('a sweep drops the state of deleted pods and nodes, and evaluates the rest', async () => {
  await using stand = new EvictorStand();
  for (const name of ['gone', 'other-uid', 'tolerates-more', 'stays']) stand.putPod(name, tolerating(60));
  stand.setTaints('n', taint);
  assert.equal(stand.evictor.scheduled().size, 4);
  stand.pods.delete('d/gone');
  stand.putPod('other-uid', [{ operator: 'Exists' }], { uid: 'another' });
  stand.putPod('tolerates-more', [{ operator: 'Exists' }]);
  stand.sweep();
  assert.deepEqual([...stand.evictor.scheduled().keys()], ['d/stays']);
  stand.nodes.delete('n');
  stand.sweep();
  assert.deepEqual([...stand.evictor.scheduled().keys()], []);
  assert.deepEqual(stand.evictor.runningTaints('n'), []);
  assert.deepEqual(stand.events(), [
    'Cancelling deletion of Pod d/gone',
    'Cancelling deletion of Pod d/other-uid',
    'Cancelling deletion of Pod d/tolerates-more',
    'Cancelling deletion of Pod d/stays',
  ]);
});

test('no state is kept for a deleted pod, whether its event comes before or after the response, or not at all', async () => {
  await using stand = new EvictorStand();
  for (const name of ['before', 'after', 'unobserved']) stand.putPod(name);
  stand.answer = (command) => {
    if (command.kind === 'delete-pod' && command.pod.name === 'before') stand.removePod('before');
    return { result: 'written' };
  };
  stand.setTaints('n', taint);
  await stand.advance(1);
  assert.equal(stand.evictor.evictedCount, 2);
  stand.removePod('after');
  assert.equal(stand.evictor.evictedCount, 1);
  stand.pods.delete('d/unobserved');
  stand.sweep();
  assert.deepEqual([stand.evictor.evictedCount, stand.evictor.scheduled().size], [0, 0]);
});

test('in a running controller no state is kept for 200 deleted pods', async () => {
  await using world = aWorldOf(1);
  const names = Array.from({ length: 200 }, (_, i) => `p${i}`);
  for (const name of names) world.addPod(name, 'n0');
  await world.running(1);
  world.setTaints('n0', [taint]);
  await world.advance(30);
  assert.equal(world.evicted().length, 200);
  for (const name of names) world.removePod(name);
  const { evictor } = world.lifecycle.stages;
  assert.deepEqual([evictor.evictedCount, evictor.scheduled().size], [0, 0]);
});
