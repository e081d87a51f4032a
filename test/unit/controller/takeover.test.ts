// Who begins to lead has a lease to renew, and a large cluster to look at. It looks at what wants it, and never at all of
// it in one turn; in the end it has missed nothing.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ControllerWorld } from '../../support/controller-world.ts';
import { settled } from '../../support/manual-clock.ts';
import { aZonedWorld, names } from '../../support/zoned-world.ts';

const forever = [{ operator: 'Exists' }];
const many = 200;

/** What is asked of the pods' store from now on, by node, and how often somebody is told of all pods. */
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

function isMarked(world: ControllerWorld, pod: string): boolean {
  return world.pod(pod)?.status?.conditions?.find(({ type }) => type === 'Ready')?.status === 'False';
}

function registered(world: ControllerWorld): number {
  return world.kinds().filter((kind) => kind === 'node-registered').length;
}

test('a node that is well costs no look at its pods', async () => {
  for (const taintBasedEvictions of [true, false]) {
    const world = new ControllerWorld({ taintBasedEvictions });
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
    assert.equal(isMarked(world, 'waiting'), true);
    await world.stop();
  }
});

test('pods that were not marked while nobody led are marked by who takes over, a few nodes at a time', async () => {
  const world = new ControllerWorld();
  for (const name of names(many)) world.addNode(name, { ready: 'False' });
  for (const name of names(many)) world.addPod(`on-${name}`, name, forever);
  world.renewing(...names(many));
  const marked = (): number => names(many).filter((name) => isMarked(world, `on-${name}`)).length;
  const looks = countLooks(world);
  world.start();
  await settled();
  assert.ok(looks.nodes.length > 0 && looks.nodes.length < many / 2, `${looks.nodes.length} nodes in one turn`);
  await world.advance(1);
  assert.equal(marked(), many);
  await world.stop();
});

test('every pod of a tainted node is sent away by who takes over, a few nodes at a time', async () => {
  const world = new ControllerWorld();
  const taints = [{ key: 'ours', effect: 'NoExecute' }] as const;
  const patient = [{ operator: 'Exists', effect: 'NoExecute', tolerationSeconds: 60 }];
  for (const name of names(many)) world.addNode(name, { taints });
  for (const name of names(many)) world.addPod(`on-${name}`, name, patient);
  world.renewing(...names(many));
  const { evictor } = world.lifecycle.stages;
  world.start();
  await settled();
  assert.ok(evictor.scheduled().size > 0 && evictor.scheduled().size < many / 2);
  assert.equal(names(many).filter((name) => evictor.runningTaints(name).length === 1).length, many, 'countdowns run');
  await world.advance(1);
  assert.equal(evictor.scheduled().size, many);
  assert.equal(new Set(evictor.scheduled().values()).size, 1, 'no pod has longer for having been looked at late');
  await world.stop();
});

test('what changes between the looks of a takeover is not undone by them', async () => {
  const world = new ControllerWorld();
  const taints = [{ key: 'ours', effect: 'NoExecute' }] as const;
  const patient = [{ operator: 'Exists', effect: 'NoExecute', tolerationSeconds: 60 }];
  for (const name of names(many)) world.addNode(name, { taints });
  for (const name of names(many)) world.addPod(`on-${name}`, name, patient);
  world.renewing(...names(many));
  const { evictor } = world.lifecycle.stages;
  world.start();
  await settled();
  const [last = '', beforeLast = '', third = ''] = [...names(many)].reverse();
  assert.equal(evictor.appointment(`default/on-${last}`), undefined, 'it was not looked at yet');
  world.setTaints(last, []);
  world.removeNode(beforeLast);
  world.addPod('newcomer', third, patient);
  await world.advance(1);
  assert.equal(evictor.appointment(`default/on-${last}`), undefined);
  assert.equal(evictor.appointment(`default/on-${beforeLast}`), undefined);
  assert.ok(evictor.appointment('default/newcomer') !== undefined);
  assert.equal(evictor.scheduled().size, many - 1);
  await world.stop();
});

test('the first pass looks at a large cluster in parts, and nobody acts before it is over', async () => {
  const size = 2_500;
  const world = aZonedWorld({ a: size }, { nodeMonitorGracePeriodMs: 50_000 });
  world.addPod('hasty', 'a-0');
  world.setTaints('a-0', [{ key: 'node.kubernetes.io/unreachable', effect: 'NoExecute' }]);
  for (const name of names(size, 'a-')) world.post(name, 'Unknown');
  world.start();
  await settled();
  assert.ok(registered(world) > 0 && registered(world) < size, `${registered(world)} in one turn`);
  assert.deepEqual([world.writes, world.kinds().includes('outage-entered')], [[], false]);
  await world.clock.advance(1_000);
  assert.equal(registered(world), size);
  assert.equal(world.kinds().includes('outage-entered'), true);
  assert.deepEqual(world.evicted(), [], 'all zones are dark, which was known before anybody was sent away');
  await world.stop();
});

test('a stop in the middle of the first pass ends the work, with nothing written', async () => {
  const size = 2_500;
  const world = aZonedWorld({ a: size });
  world.setLabels('a-0', { 'kubernetes.io/os': 'linux' });
  world.start();
  await settled();
  await world.stop();
  assert.deepEqual([world.writes, world.clock.sleeping], [[], 0]);
  assert.ok(registered(world) < size, 'and no look at the rest');
});

test('of nodes that came and went while nobody led nothing is left, and nobody looks at them', async () => {
  const world = new ControllerWorld();
  world.addNode('stays');
  world.renewing('stays');
  for (const name of names(many)) world.addNode(name);
  for (const name of names(many)) world.removeNode(name);
  const { health } = world.lifecycle.stages;
  assert.deepEqual(
    names(many).filter((name) => health.get(name) !== undefined),
    [],
  );
  let looks = 0;
  world.meter.observe = ({ name }) => {
    if (name === 'node_collector_update_node_health_duration_seconds') looks += 1;
  };
  world.start();
  await world.clock.advance(10);
  assert.equal(looks, 1);
  await world.stop();
});

test('a pod whose time ran out while nobody led stays, if its node came back meanwhile', async () => {
  const world = new ControllerWorld();
  const taints = [{ key: 'node.kubernetes.io/unreachable', effect: 'NoExecute' }] as const;
  for (const name of ['back', 'dark', 'tainted-by-others']) world.addNode(name);
  for (const name of ['back', 'dark']) world.setTaints(name, taints);
  world.setTaints('tainted-by-others', [{ key: 'ours', effect: 'NoExecute' }]);
  world.post('dark', 'Unknown');
  for (const name of ['back', 'dark', 'tainted-by-others']) world.addPod(`on-${name}`, name);
  world.renewing('back', 'tainted-by-others');
  // The taint is not taken back before the pod is looked at.
  world.failNext('patch', 'nodes', 'unavailable', 3);
  world.start();
  await world.advance(5);
  assert.deepEqual([...world.evicted()].sort(), ['on-dark', 'on-tainted-by-others']);
  assert.deepEqual(world.taints('back'), []);
  assert.ok(world.kinds().includes('eviction-held'));
  await world.stop();
});

test('where others take taints back it is for them to say when one is void', async () => {
  const world = new ControllerWorld({}, { nodeLifecycle: false, taintEviction: true, podGc: false });
  world.addNode('back');
  world.setTaints('back', [{ key: 'node.kubernetes.io/unreachable', effect: 'NoExecute' }]);
  world.addPod('on-back', 'back');
  world.renewing('back');
  world.start();
  await world.advance(5);
  assert.deepEqual(world.evicted(), ['on-back']);
  await world.stop();
});
