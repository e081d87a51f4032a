import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { CollectionSize } from '../../../../src/controller/report/collection-sizes.ts';
import type { ControllerWorld } from '../../../support/controller-world.ts';
import { aZonedWorld, names } from '../../../support/zoned-world.ts';

function beyond(world: ControllerWorld, max: Readonly<Record<CollectionSize['per'], number>>): readonly string[] {
  const sizes = world.lifecycle.sizes().filter(({ per, entries }) => entries > max[per]);
  return sizes.map(({ collection, entries }) => `${collection} ${entries}`);
}

test('no collection is larger than the cluster while nodes are silent, and after they were deleted', async () => {
  await using world = await aZonedWorld({ a: 12, b: 6 }).running(1);
  const silent = [...names(5, 'a-'), ...names(6, 'b-')];
  for (const node of silent) for (const pod of ['p', 'q']) world.addPod(`${node}-${pod}`, node);
  await world.silentFor(120, ...silent);
  assert.deepEqual(beyond(world, { node: 18, pod: 22, zone: 2 }), []);
  assert.equal(world.lifecycle.sizes().find(({ collection }) => collection === 'node-health')?.entries, 18);
  for (const node of silent) world.removeNode(node);
  await world.advance(150);
  for (const node of silent) for (const pod of ['p', 'q']) world.removePod(`${node}-${pod}`);
  await world.advance(70);
  assert.deepEqual(beyond(world, { node: 7, pod: 0, zone: 1 }), []);
});

test('the sizes are shown on a scrape', async () => {
  await using world = await aZonedWorld({ a: 3 }).running(1);
  const shown = world.meter.read();
  assert.equal(shown.get('node_lifecycle_collection_entries{collection="node-health"}'), 3);
  assert.equal(shown.get('node_lifecycle_collection_entries{collection="zone-states"}'), 1);
});
