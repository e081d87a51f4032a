// A webhook or policy takes the change out of a patch, and the API server answers 200 with the object as it was.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ControllerWorld } from '../../support/controller-world.ts';
import { aZonedWorld } from '../../support/zoned-world.ts';

/** Node a-0 has a pod and reports that it is not ready; each patch of these resources changes nothing. */
function aWorldWithoutPatchesOf(...resources: readonly string[]): ControllerWorld {
  const world = aZonedWorld({ a: 3, b: 3, c: 3 });
  world.addPod('p', 'a-0', [{ operator: 'Exists' }]);
  for (const resource of resources) world.dropsPatchesOf.add(resource);
  return world.start();
}

/** The node is evaluated every half second, as while leases are listed because their watch is dead. */
async function evaluateOften(world: ControllerWorld, seconds: number): Promise<void> {
  for (let left = seconds; left > 0; left -= 0.5) {
    world.post('a-0', 'False');
    await world.advance(0.5);
  }
}

function patchesOf(world: ControllerWorld, resource: string, name: string): number {
  return world.writes.filter((write) => write.verb === 'patch' && write.resource === resource && write.name === name)
    .length;
}

test('taints that a webhook drops are not called changed, and are written again every five seconds at most', async () => {
  await using world = aWorldWithoutPatchesOf('nodes');
  await evaluateOften(world, 60);
  assert.deepEqual(world.decided('taints-changed'), []);
  const failed = world.decided('write-failed').map(({ subject, write, reason }) => `${subject} ${write} ${reason}`);
  assert.deepEqual([...new Set(failed)], ['a-0 change-taints not-applied']);
  const sent = patchesOf(world, 'nodes', 'a-0');
  assert.ok(sent >= 4 && sent <= 2 * (60 / 5 + 1), `${sent} patches: NoSchedule, and NoExecute in its own queue`);
});

test('taints are there within 35 seconds of the end of a webhook that dropped them', async () => {
  await using world = aWorldWithoutPatchesOf('nodes');
  await evaluateOften(world, 60);
  world.dropsPatchesOf.delete('nodes');
  await world.advance(35);
  assert.deepEqual(world.taints('a-0'), ['not-ready:NoExecute', 'not-ready:NoSchedule']);
});

test('a status that a webhook drops is not called Unknown, and follows within 35 seconds of its end', async () => {
  await using world = aWorldWithoutPatchesOf('nodes');
  await world.silentFor(100, 'b-0');
  assert.deepEqual(world.decided('node-silent'), []);
  assert.ok(patchesOf(world, 'nodes', 'b-0') <= 12, 'no flood');
  world.dropsPatchesOf.delete('nodes');
  await world.silentFor(35, 'b-0');
  assert.equal(world.decided('node-silent').length, 1);
});

test('marks that a webhook drops are made again, also when another client writes the pods meanwhile', async () => {
  await using world = aWorldWithoutPatchesOf('pods');
  await world.silentFor(60, 'a-0');
  assert.equal(world.podReady('p'), 'True');
  assert.deepEqual(world.decided('pod-marked-not-ready'), []);
  world.dropsPatchesOf.delete('pods');
  world.changePod('p', (pod) => ({ ...pod, metadata: { ...pod.metadata, labels: { by: 'user' } } }));
  await world.advance(35);
  assert.equal(world.podReady('p'), 'False');
});
