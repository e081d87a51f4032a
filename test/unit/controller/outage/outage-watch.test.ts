import assert from 'node:assert/strict';
import { test } from 'node:test';
import { aZonedWorld, names } from '../../../support/zoned-world.ts';

test('a zone that failed and vanished leaves no state', async () => {
  await using world = aZonedWorld({ a: 3, b: 12 }).start();
  await world.silentFor(55, ...names(3, 'a-'));
  assert.equal(world.lifecycle.stages.outage.announced, 1);
  for (const name of names(3, 'a-')) world.removeNode(name);
  await world.advance(400);
  assert.equal(world.lifecycle.stages.outage.announced, 0);
});
