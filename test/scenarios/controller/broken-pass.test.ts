// An exception in the evaluation of one node is handled for that node. After an exception in a pass over all nodes the
// state may be inconsistent, so the work ends and nothing more is written.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { MetricDefinition } from '../../../src/machinery/ports/meter.ts';
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
  world.addNodes(['n1', 'n2']);
  world.addPod('p', 'n1', [{ operator: 'Exists', effect: 'NoExecute', tolerationSeconds: 30 }]);
  await world.advance(0);
  return world;
}

test('a monitor pass that throws ends the work at once and rejects with its error', async () => {
  const world = await withTwoNodes();
  const stop = new AbortController();
  const led = world.lifecycle.lead(stop.signal).catch((error: unknown) => error);
  await world.advance(10);
  breakPasses(world);
  await world.advance(10);
  assert.equal(await Promise.race([led, Promise.resolve('still leading')]), broken);
  stop.abort();
  await world.advance(1);
  assert.equal(world.clock.sleeping, 0, 'no timer is left');
});

test('nothing is written after it, though other loops have work', async () => {
  const world = await withTwoNodes();
  const stop = new AbortController();
  const led = world.lifecycle.lead(stop.signal).catch((error: unknown) => error);
  await world.advance(10);
  world.setTaints('n1', [{ key: 'own', effect: 'NoExecute' }]);
  await world.advance(1);
  assert.equal(world.lifecycle.stages.evictor.scheduled().size, 1);
  breakPasses(world);
  await world.advance(60);
  assert.equal(await Promise.race([led, Promise.resolve('still leading')]), broken);
  assert.deepEqual(world.writes, []);
  stop.abort();
  await world.advance(1);
});
