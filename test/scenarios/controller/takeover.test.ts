// A new leader has a lease to renew and may have a large cluster to evaluate. It evaluates what is relevant, never all
// of it without yielding, and misses nothing in the end.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ControllerWorld } from '../../support/controller-world.ts';
import { settled } from '../../support/manual-clock.ts';
import { aZonedWorld, names } from '../../support/zoned-world.ts';

const forever = [{ operator: 'Exists' }];
const many = 200;

/** Reads of the pod store from now on, by node, and the number of iterations over all pods. */
function countLooks(world: ControllerWorld): { readonly nodes: string[]; joins: number } {
  const looks = { nodes: [] as string[], joins: 0 };
  const byIndex = world.pods.byIndex.bind(world.pods);
  const onChange = world.pods.onChange.bind(world.pods);
  world.pods.byIndex = (index, value) => {
    looks.nodes.push(value);
    return byIndex(index, value);
  };
  world.pods.onChange = (name, listener) => {
    looks.joins += 1;
    return onChange(name, listener);
  };
  return looks;
}

function registered(world: ControllerWorld): number {
  return world.decided('node-registered').length;
}

test('the pods of a healthy node are not evaluated', async () => {
  for (const taintBasedEvictions of [true, false]) {
    await using world = new ControllerWorld({ taintBasedEvictions });
    for (const name of names(many)) world.addNode(name);
    for (const name of names(many)) world.addPod(`on-${name}`, name, forever);
    world.addNode('unready', { ready: 'False' });
    world.addPod('waiting', 'unready', forever);
    world.renewing(...names(many), 'unready');
    const looks = countLooks(world);
    world.start();
    await world.clock.advance(10);
    assert.deepEqual(new Set(looks.nodes), new Set(['unready']));
    assert.equal(looks.joins, 0);
    assert.equal(world.podReady('waiting') === 'False', true);
  }
});

test('pods that were not marked while no replica led are marked by the new leader, a few nodes at a time', async () => {
  await using world = new ControllerWorld();
  for (const name of names(many)) world.addNode(name, { ready: 'False' });
  for (const name of names(many)) world.addPod(`on-${name}`, name, forever);
  world.renewing(...names(many));
  const marked = (): number => names(many).filter((name) => world.podReady(`on-${name}`) === 'False').length;
  const looks = countLooks(world);
  world.start();
  await settled();
  assert.ok(looks.nodes.length > 0 && looks.nodes.length < many / 2, `${looks.nodes.length} nodes in one turn`);
  await world.advance(1);
  assert.equal(marked(), many);
});

const toleratesFor60s = [{ operator: 'Exists', effect: 'NoExecute', tolerationSeconds: 60 }];

/** Each node is tainted NoExecute and has a pod that tolerates the taint for 60 s. */
function aWorldOfTaintedNodes(): ControllerWorld {
  const world = new ControllerWorld();
  for (const name of names(many)) {
    world.addNode(name, { taints: [{ key: 'own', effect: 'NoExecute' }] });
    world.addPod(`on-${name}`, name, toleratesFor60s);
  }
  world.renewing(...names(many));
  return world;
}

test('every pod of a tainted node is evicted by the new leader, a few nodes at a time', async () => {
  await using world = aWorldOfTaintedNodes();
  const { evictor } = world.lifecycle.stages;
  world.start();
  await settled();
  assert.ok(evictor.scheduled().size > 0 && evictor.scheduled().size < many / 2);
  assert.equal(names(many).filter((name) => evictor.runningTaints(name).length === 1).length, many, 'countdowns run');
  await world.advance(1);
  assert.equal(evictor.scheduled().size, many);
  assert.equal(new Set(evictor.scheduled().values()).size, 1, 'a late evaluation gives no pod more time');
});

test('changes between the batches of a takeover are kept', async () => {
  await using world = aWorldOfTaintedNodes();
  const { evictor } = world.lifecycle.stages;
  world.start();
  await settled();
  const [last = '', beforeLast = '', third = ''] = [...names(many)].reverse();
  assert.equal(evictor.timedEviction(`default/on-${last}`), undefined, 'not evaluated yet');
  world.setTaints(last, []);
  world.removeNode(beforeLast);
  world.addPod('newcomer', third, toleratesFor60s);
  await world.advance(1);
  assert.equal(evictor.timedEviction(`default/on-${last}`), undefined);
  assert.equal(evictor.timedEviction(`default/on-${beforeLast}`), undefined);
  assert.ok(evictor.timedEviction('default/newcomer') !== undefined);
  assert.equal(evictor.scheduled().size, many - 1);
});

test('the first pass evaluates a large cluster in batches, and nothing is written before it ends', async () => {
  const size = 2_500;
  await using world = aZonedWorld({ a: size }, { nodeMonitorGracePeriodMs: 50_000 });
  world.addPod('hasty', 'a-0');
  world.setTaints('a-0', [{ key: 'node.kubernetes.io/unreachable', effect: 'NoExecute' }]);
  for (const name of names(size, 'a-')) world.post(name, 'Unknown');
  world.start();
  await settled();
  assert.ok(registered(world) > 0 && registered(world) < size, `${registered(world)} in one turn`);
  assert.deepEqual([world.writes, world.kinds().includes('full-disruption-entered')], [[], false]);
  await world.clock.advance(1_000);
  assert.equal(registered(world), size);
  assert.equal(world.kinds().includes('full-disruption-entered'), true);
  assert.deepEqual(world.evicted(), [], 'all zones are fully disrupted, which was known before any eviction');
});

test('a stop in the middle of the first pass ends the work, with nothing written', async () => {
  const size = 2_500;
  const world = aZonedWorld({ a: size });
  world.setLabels('a-0', { 'kubernetes.io/os': 'linux' });
  world.start();
  await settled();
  await world.stop();
  assert.deepEqual([world.writes, world.clock.sleeping], [[], 0]);
  assert.ok(registered(world) < size, 'the rest is not evaluated');
});

test('nodes that came and went while no replica led leave no state and are not evaluated', async () => {
  await using world = new ControllerWorld();
  world.addNode('stays');
  world.renewing('stays');
  for (const name of names(many)) world.addNode(name);
  for (const name of names(many)) world.removeNode(name);
  const { health } = world.lifecycle.stages;
  const left = names(many).filter((name) => health.get(name) !== undefined);
  assert.deepEqual(left, []);
  let looks = 0;
  world.meter.observe = ({ name }) => {
    if (name === 'node_collector_update_node_health_duration_seconds') looks += 1;
  };
  world.start();
  await world.clock.advance(10);
  assert.equal(looks, 1);
});

test('a pod whose countdown ended while no replica led stays if its node recovered meanwhile', async () => {
  await using world = new ControllerWorld();
  const taints = [{ key: 'node.kubernetes.io/unreachable', effect: 'NoExecute' }] as const;
  for (const name of ['back', 'silent', 'tainted-by-others']) world.addNode(name);
  for (const name of ['back', 'silent']) world.setTaints(name, taints);
  world.setTaints('tainted-by-others', [{ key: 'own', effect: 'NoExecute' }]);
  world.post('silent', 'Unknown');
  for (const name of ['back', 'silent', 'tainted-by-others']) world.addPod(`on-${name}`, name);
  world.renewing('back', 'tainted-by-others');
  // The taint is not removed before the pod is evaluated.
  world.failNext('patch', 'nodes', 'unavailable', 3);
  await world.running(5);
  assert.deepEqual([...world.evicted()].sort(), ['on-silent', 'on-tainted-by-others']);
  assert.deepEqual(world.taints('back'), []);
  assert.ok(world.kinds().includes('eviction-held'));
});

test('where another controller manages taints, a taint on a Ready node counts', async () => {
  await using world = new ControllerWorld({}, { nodeLifecycle: false, taintEviction: true, podGc: false });
  world.addNode('back');
  world.setTaints('back', [{ key: 'node.kubernetes.io/unreachable', effect: 'NoExecute' }]);
  world.addPod('on-back', 'back');
  world.renewing('back');
  await world.running(5);
  assert.deepEqual(world.evicted(), ['on-back']);
});
