import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ControllerSelection } from '../../../src/controller/options.ts';
import { selectControllers, unknownControllers } from '../../../src/cli/controller-selection.ts';
import { ControllerWorld } from '../../support/controller-world.ts';

function aWorld(controllers: ControllerSelection): ControllerWorld {
  const world = new ControllerWorld({}, controllers);
  for (const name of ['a-0', 'a-1', 'b-0']) {
    world.addNode(name, { zone: name.slice(0, 1) });
    world.renewing(name);
  }
  world.addPod('impatient', 'a-0', []);
  return world;
}

test('the detector alone taints and evicts nobody', async () => {
  const world = aWorld({ nodeLifecycle: true, taintEviction: false, podGc: false });
  world.start();
  world.goDark('a-0');
  await world.advance(300);
  assert.deepEqual(world.taints('a-0'), ['unreachable:NoExecute', 'unreachable:NoSchedule']);
  assert.deepEqual(world.evicted(), []);
  await world.stop();
});

test('the evictor alone judges nobody and sends away who does not tolerate a taint of somebody else', async () => {
  const world = aWorld({ nodeLifecycle: false, taintEviction: true, podGc: false });
  world.start();
  world.goDark('a-0');
  await world.advance(300);
  assert.equal(world.ready('a-0'), 'True');
  assert.deepEqual(world.evicted(), []);
  world.setTaints('a-0', [{ key: 'maintenance', effect: 'NoExecute' }]);
  await world.advance(2);
  assert.deepEqual(world.evicted(), ['impatient']);
  await world.stop();
});

test('the pod garbage collector alone takes pods whose node is gone, after its quarantine', async () => {
  const world = aWorld({ nodeLifecycle: false, taintEviction: false, podGc: true });
  world.start();
  await world.advance(5);
  world.removeNode('a-0');
  await world.advance(40);
  assert.deepEqual(world.evicted(), []);
  await world.advance(41);
  assert.deepEqual(world.evicted(), ['impatient']);
  await world.stop();
});

test('--controllers: names, aliases, * for what is on by default, - to switch off, the first word about one counts', () => {
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
