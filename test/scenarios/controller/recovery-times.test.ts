// The histogram of faults: from the last heartbeat of a node to Unknown, evictions, replacements and recovery.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { aPolicy } from '../../support/builders.ts';
import type { ControllerWorld } from '../../support/controller-world.ts';
import { aZonedWorld } from '../../support/zoned-world.ts';

const labels = { app: 'shop', 'pod-template-hash': '5d4f' };

function aWorld(options: Parameters<typeof aZonedWorld>[1] = {}): ControllerWorld {
  const world = aZonedWorld({ a: 4, b: 4 }, options);
  for (const name of ['p-0', 'p-1']) world.addPod(name, 'a-0', [], { labels });
  return world;
}

/** Number of observations of a stage, and their seconds together. */
function observed(world: ControllerWorld, stage: string, rest = 'cause="NodeFailure",policy="default"'): string {
  const series = `node_lifecycle_fault_seconds{stage="${stage}",${rest}}`;
  const values = world.meter.observations.get(series) ?? [];
  return `${values.length} of ${Math.round(values.reduce((sum, value) => sum + value, 0))} s`;
}

function replace(world: ControllerWorld, name: string, pod: string, by: string): void {
  world.removePod(name);
  world.addPod(pod, by, [], { labels });
}

test('a node that dies and comes back is counted with each step, from its last heartbeat', async () => {
  await using world = aWorld();
  await world.running(20);
  await world.silentFor(70, 'a-0');
  assert.deepEqual(world.evicted(), ['p-0', 'p-1']);
  const [unknown] = world.decided('node-silent');
  assert.equal(observed(world, 'unknown'), `1 of ${Math.round((unknown?.silentMs ?? 0) / 1_000)} s`);
  assert.match(observed(world, 'first_eviction'), /^1 of [56]\d s$/u);
  assert.equal(observed(world, 'replacement'), '0 of 0 s');
  replace(world, 'p-0', 'p-2', 'b-0');
  await world.advance(1);
  assert.match(observed(world, 'replacement'), /^1 of [78]\d s$/u);
  world.recover('a-0');
  await world.advance(5);
  assert.match(observed(world, 'recovery'), /^1 of [78]\d s$/u);
  assert.match(observed(world, 'last_eviction'), /^1 of [56]\d s$/u);
});

test('pods that were there, of other owners, or beyond the number of evicted ones replace none', async () => {
  await using world = aWorld();
  world.addPod('before', 'b-0', [], { labels });
  await world.running(20);
  await world.silentFor(70, 'a-0');
  world.changePod('before', (pod) => ({ ...pod, status: { ...pod.status, conditions: [] } }));
  world.changePod('before', (pod) => ({
    ...pod,
    status: { ...pod.status, conditions: [{ type: 'Ready', status: 'True' }] },
  }));
  world.addPod('other', 'b-0', [], { labels: { app: 'other' } });
  await world.advance(1);
  assert.equal(observed(world, 'replacement'), '0 of 0 s');
  for (const name of ['r-0', 'r-1', 'r-2']) world.addPod(name, 'b-1', [], { labels });
  await world.advance(1);
  assert.match(observed(world, 'replacement'), /^2 of /u);
});

test('the policy and a kubelet that reports NotReady are labels; a fault ends with the recovery', async () => {
  await using world = aWorld({ policies: [aPolicy({ name: 'db' })] });
  const rest = 'cause="NotReady",policy="db"';
  await world.running(20);
  world.post('a-0', 'False');
  for (let left = 40; left > 0; left -= 10) {
    world.post('a-0', 'False');
    await world.advance(10);
  }
  assert.match(observed(world, 'first_eviction', rest), /^1 of /u);
  assert.equal(observed(world, 'unknown', rest), '0 of 0 s');
  world.post('a-0', 'True');
  await world.advance(5);
  assert.match(observed(world, 'recovery', rest), /^1 of [34]\d s$/u);
  assert.equal(world.lifecycle.stages.recoveries.size, 0);
});

test('a node that is deleted ends its fault without a recovery', async () => {
  await using world = aWorld();
  await world.running(20);
  await world.silentFor(70, 'a-0');
  world.removeNode('a-0');
  await world.advance(10);
  assert.match(observed(world, 'last_eviction'), /^1 of /u);
  assert.equal(observed(world, 'recovery'), '0 of 0 s');
  assert.equal(world.lifecycle.stages.recoveries.size, 0);
});
