// The namespace of the node leases is deleted: no kubelet can renew its lease, and each posts its status every five minutes,
// or when its node is Unknown in the API.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ControllerWorld } from '../../support/controller-world.ts';
import { aWorldOf, names } from '../../support/zoned-world.ts';

const all = names(9);
const living = all.filter((name) => name !== 'n0');
/** Jitter of kubelets makes the first report after a change this late. */
const reportSeconds = 450;

/** This time passes; the kubelets of these nodes post their statuses. */
async function posting(world: ControllerWorld, seconds: number, nodes: readonly string[]): Promise<void> {
  const postedAt = new Map(nodes.map((node, place) => [node, world.seconds() - place * 40]));
  for (let left = seconds; left > 0; left -= 10) {
    for (const node of nodes) {
      if (world.ready(node) !== 'Unknown' && world.seconds() - (postedAt.get(node) ?? 0) < reportSeconds) continue;
      world.post(node, 'True');
      postedAt.set(node, world.seconds());
    }
    await world.advance(10);
  }
}

function silent(world: ControllerWorld): readonly string[] {
  return [...new Set(world.decided('node-silent').map(({ node }) => node))];
}

test('nodes whose kubelets post their statuses stay Ready while all leases are missing, however long', async () => {
  await using world = aWorldOf(9, 3);
  for (const node of all) world.addPod(`on-${node}`, node, []);
  await world.running(20);
  world.deleteLeases();
  await posting(world, 3_600, all);
  assert.deepEqual(silent(world), []);
  assert.deepEqual(world.evicted(), []);
  assert.deepEqual(world.writes, []);
  const held = world.decided('confirmation-held');
  assert.ok(held.length > 0 && held.every(({ why }) => why === 'leases-missing'));
});

test('a node that also posts no status is Unknown nine minutes later', async () => {
  await using world = aWorldOf(9, 3);
  await world.running(20);
  world.deleteLeases();
  await posting(world, 480, living);
  assert.deepEqual(silent(world), []);
  await posting(world, 60, living);
  assert.deepEqual(silent(world), ['n0']);
});

test('leases that are created again end the hold of a node that has failed meanwhile after a minute', async () => {
  await using world = aWorldOf(9, 3);
  await world.running(20);
  world.deleteLeases();
  await posting(world, 120, living);
  world.renewing(...living);
  await world.advance(50);
  assert.deepEqual(silent(world), []);
  await world.advance(20);
  assert.deepEqual(silent(world), ['n0']);
});

test('a node whose lease alone is missing is silent after its grace period', async () => {
  await using world = aWorldOf(9, 3);
  await world.running(20);
  world.deleteLeases();
  world.renewing(...living);
  await world.advance(52);
  assert.deepEqual(silent(world), ['n0']);
});

test('nodes that never had a lease are silent after their grace period', async () => {
  const world = aWorldOf(9, 3);
  world.deleteLeases();
  await world.restart();
  await world.advance(52);
  assert.equal(silent(world).length, 9);
  await world.stop();
});
