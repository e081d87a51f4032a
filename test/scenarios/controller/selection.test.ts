import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ControllerSelection } from '../../../src/controller/model/options.ts';
import { selectControllers, unknownControllers } from '../../../src/cli/controller/rules.ts';
import { ControllerWorld } from '../../support/controller-world.ts';

function aWorld(controllers: ControllerSelection): ControllerWorld {
  const world = new ControllerWorld({}, controllers);
  world.addNodes(['a-0', 'a-1'], { zone: 'a' });
  world.addNodes(['b-0'], { zone: 'b' });
  world.addPod('impatient', 'a-0', []);
  return world;
}

test('the node lifecycle controller alone taints and evicts no pod', async () => {
  await using world = aWorld({ nodeLifecycle: true, taintEviction: false, podGc: false }).start();
  await world.silentFor(300, 'a-0');
  assert.deepEqual(world.taints('a-0'), ['unreachable:NoExecute', 'unreachable:NoSchedule']);
  assert.deepEqual(world.evicted(), []);
});

test('the taint eviction controller alone evaluates no node and evicts pods that do not tolerate a taint of another component', async () => {
  await using world = aWorld({ nodeLifecycle: false, taintEviction: true, podGc: false }).start();
  await world.silentFor(300, 'a-0');
  assert.equal(world.ready('a-0'), 'True');
  assert.deepEqual(world.evicted(), []);
  world.setTaints('a-0', [{ key: 'maintenance', effect: 'NoExecute' }]);
  await world.advance(2);
  assert.deepEqual(world.evicted(), ['impatient']);
});

test('the taint eviction controller alone evicts no pod of a paused node, and reports a malformed annotation', async () => {
  await using world = aWorld({ nodeLifecycle: false, taintEviction: true, podGc: false });
  world.annotatePause('a-0', 'yes');
  world.setTaints('a-0', [{ key: 'maintenance', effect: 'NoExecute' }]);
  await world.running(70);
  assert.deepEqual(world.evicted(), []);
  assert.equal(world.nodeEventsOf('MalformedPauseAnnotation').length, 1);
  world.annotatePause('a-0', undefined);
  await world.advance(1);
  assert.deepEqual(world.evicted(), ['impatient']);
});

test('the pod garbage collector alone deletes pods of deleted nodes, after the quarantine', async () => {
  await using world = await aWorld({ nodeLifecycle: false, taintEviction: false, podGc: true }).running(5);
  world.removeNode('a-0');
  await world.advance(40);
  assert.deepEqual(world.evicted(), []);
  await world.advance(41);
  assert.deepEqual(world.evicted(), ['impatient']);
});

test('--controllers: names, aliases, * for the default set, - to disable, the first entry for a controller counts', () => {
  const cases: readonly [string, readonly boolean[]][] = [
    ['*', [true, true, false]],
    ['*,-taint-eviction-controller', [true, false, false]],
    ['*,-nodelifecycle', [false, true, false]],
    ['*,podgc', [true, true, true]],
    ['pod-garbage-collector-controller', [false, false, true]],
    ['node-lifecycle-controller', [true, false, false]],
    ['-node-lifecycle-controller,node-lifecycle-controller', [false, false, false]],
    ['taint-eviction-controller , podgc', [false, true, true]],
  ];
  for (const [text, [nodeLifecycle, taintEviction, podGc]] of cases) {
    assert.deepEqual(selectControllers(text), { nodeLifecycle, taintEviction, podGc }, text);
  }
  assert.deepEqual(unknownControllers('*,-endpoint-controller,podgc,replicaset'), [
    '-endpoint-controller',
    'replicaset',
  ]);
});
