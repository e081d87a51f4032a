// What holds all pods of a node costs one question a second for the node, and nothing for each pod.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { EvictorStand } from './evictor-stand.ts';

const unreachable = { key: 'node.kubernetes.io/unreachable', effect: 'NoExecute' };
const drain = { key: 'example.com/drain', effect: 'NoExecute' };
const pods = Array.from({ length: 100 }, (_, place) => `p${place}`);

/** A node of which 100 pods are due and held by a breaker. */
async function aHeldNode(): Promise<EvictorStand> {
  const stand = new EvictorStand();
  stand.hold = 'breaker';
  for (const name of pods) stand.setPod(name);
  stand.setTaints('n', unreachable);
  await stand.advance(2);
  assert.equal(stand.held().length, pods.length);
  return stand;
}

const deleted = ({ sent }: EvictorStand): readonly string[] => sent.filter((one) => one.startsWith('delete-pod'));

test('a held node is asked for once a second, whatever number of its pods is due', async () => {
  await using stand = await aHeldNode();
  stand.asked = 0;
  await stand.advance(60);
  assert.deepEqual([stand.asked, deleted(stand)], [60, []]);
  stand.sweep();
  await stand.advance(1);
  assert.ok(stand.asked < 70, 'a sweep over what is remembered wakes no pod');
});

test('within two seconds after the end of the hold each pod is deleted once', async () => {
  await using stand = await aHeldNode();
  stand.hold = undefined;
  await stand.advance(2);
  assert.equal(new Set(deleted(stand)).size, pods.length);
  await stand.advance(60);
  assert.equal(deleted(stand).length, pods.length);
});

test('another reason is noted for each pod, and a taint of another client is not held by it', async () => {
  await using stand = await aHeldNode();
  stand.hold = 'full-disruption';
  await stand.advance(2);
  assert.equal(stand.held().filter((why) => why === 'full-disruption').length, pods.length);
  stand.setTaints('n', unreachable, drain);
  await stand.advance(1);
  assert.equal(deleted(stand).length, pods.length);
});

test('nothing is kept of pods that are gone or tolerate the taint', async () => {
  await using stand = await aHeldNode();
  for (const name of pods.slice(1)) stand.removePod(name);
  stand.setPod('p0', [{ operator: 'Exists' }]);
  await stand.advance(1);
  assert.equal(stand.evictor.size, 0);
  stand.hold = undefined;
  await stand.advance(10);
  assert.deepEqual(deleted(stand), []);
});
