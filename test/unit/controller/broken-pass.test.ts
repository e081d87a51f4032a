// A fault in the look at one node stays with that node. One in the pass over all of them has no such home: what it left
// half done nobody knows, so the work ends there, and nothing is written on the strength of it.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { MetricDefinition } from '../../../src/ports/meter.ts';
import { ControllerWorld } from '../../support/controller-world.ts';

const broken = new Error('the pass broke');

/** From now on every pass fails at its end. */
function breakPasses(world: ControllerWorld): void {
  const observe = world.meter.observe.bind(world.meter);
  world.meter.observe = (metric: MetricDefinition, value, labels): void => {
    if (metric.name === 'node_collector_update_all_nodes_health_duration_seconds') throw broken;
    observe(metric, value, labels);
  };
}

async function withTwoNodes(): Promise<ControllerWorld> {
  const world = new ControllerWorld();
  world.addNode('n1');
  world.addNode('n2');
  world.addPod('p', 'n1', [{ operator: 'Exists', effect: 'NoExecute', tolerationSeconds: 30 }]);
  world.renewing('n1', 'n2');
  await world.advance(0);
  return world;
}

test('a monitor pass that throws ends the work at once, with what it threw', async () => {
  const world = await withTwoNodes();
  const stop = new AbortController();
  const led = world.lifecycle.lead(stop.signal).catch((error: unknown) => error);
  await world.advance(10);
  breakPasses(world);
  await world.advance(10);
  assert.equal(await Promise.race([led, Promise.resolve('still leading')]), broken);
  stop.abort();
  await world.advance(1);
  assert.equal(world.clock.sleeping, 0, 'nothing of it runs any more');
});

test('nothing is written after it, though other loops have work', async () => {
  const world = await withTwoNodes();
  const stop = new AbortController();
  const led = world.lifecycle.lead(stop.signal).catch((error: unknown) => error);
  await world.advance(10);
  world.setTaints('n1', [{ key: 'ours', effect: 'NoExecute' }]);
  await world.advance(1);
  assert.equal(world.lifecycle.stages.evictor.scheduled().size, 1);
  breakPasses(world);
  await world.advance(60);
  assert.equal(await Promise.race([led, Promise.resolve('still leading')]), broken);
  assert.deepEqual(world.writes, []);
  stop.abort();
  await world.advance(1);
});
