// Lists of nodes by state and of pods by time, in a running controller.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type NodeState, nodeStates } from '../../../src/dashboard/protocol.ts';
import type { NodeList } from '../../../src/controller/report/pages.ts';
import type { ControllerWorld } from '../../support/controller-world.ts';
import { snapshotOf } from '../../support/explained.ts';
import { checkedPage } from '../../support/page-schema.ts';
import { aZonedWorld } from '../../support/zoned-world.ts';

const unready = new Set<NodeState>(nodeStates.filter((state) => state !== 'ready'));

function listOf(world: ControllerWorld, states: ReadonlySet<NodeState> = unready, limit = 100, after = ''): NodeList {
  return checkedPage('/explain/nodes', snapshotOf(world).nodes({ states, limit, after }));
}

const statesOf = ({ nodes }: NodeList): Readonly<Record<string, string>> =>
  Object.fromEntries(nodes.map(({ name, state }) => [name, state]));

test('a silent node is suspect, unreachable, tainted, emptying, and in no list when it is back', async () => {
  await using world = aZonedWorld({ a: 10, b: 3 });
  world.addPod('web', 'a-0', [{ key: 'node.kubernetes.io/unreachable', operator: 'Exists', tolerationSeconds: 30 }]);
  await world.running(20);
  assert.deepEqual(listOf(world), { nodes: [], total: 0, continue: null });
  world.unreadableLeases.add('a-0');
  await world.silentFor(52, 'a-0');
  assert.deepEqual(statesOf(listOf(world)), { 'a-0': 'suspect' });
  assert.ok((listOf(world).nodes[0]?.since?.secondsAgo ?? -1) >= 0);
  world.unreadableLeases.clear();
  await world.advance(30);
  const { nodes } = listOf(world);
  assert.deepEqual(
    nodes.map(({ name, state, zone, pods }) => [name, state, zone, pods]),
    [['a-0', 'emptying', 'r/a', 1]],
  );
  assert.deepEqual([nodes[0]?.next.act, nodes[0]?.next.subject], ['evict-pod', 'default/web']);
  const { evictions, total } = checkedPage('/explain/evictions', snapshotOf(world).evictions(10));
  assert.deepEqual([evictions[0]?.pod, evictions[0]?.node, total], ['default/web', 'a-0', 1]);
  world.recover('a-0');
  await world.advance(5);
  assert.deepEqual([listOf(world).total, snapshotOf(world).evictions(10).total], [0, 0]);
});

test('a node that posts Ready=False is not-ready, with the time of the change; one with the annotation is paused', async () => {
  await using world = aZonedWorld({ a: 10 });
  await world.running(20);
  world.post('a-1', 'False');
  await world.advance(1);
  const [listed] = listOf(world).nodes;
  assert.ok(listed?.name === 'a-1' && ['not-ready', 'tainted'].includes(listed.state), String(listed?.state));
  assert.ok(Math.abs((listed.since?.secondsAgo ?? -1) - 1) <= 1);
  world.annotatePause('a-2', 'true');
  await world.advance(1);
  assert.deepEqual(statesOf(listOf(world, new Set(['paused']))), { 'a-2': 'paused' });
});

test('pages continue after the last name, and all of them together have every node once', async () => {
  await using world = aZonedWorld({ a: 25 });
  await world.running(20);
  const all = new Set<NodeState>(nodeStates);
  const names: string[] = [];
  let after: string | null = '';
  while (after !== null) {
    const page: NodeList = listOf(world, all, 10, after);
    assert.equal(page.total, 25);
    names.push(...page.nodes.map(({ name }) => name));
    after = page.continue;
  }
  assert.equal(names.length, 25);
  assert.deepEqual(names, [...new Set(names)].sort());
});

test('the pods that are due first are listed first, as many as asked for', async () => {
  await using world = aZonedWorld({ a: 10 });
  for (const seconds of [300, 60, 120])
    world.addPod(`p${seconds}`, 'a-0', [{ operator: 'Exists', effect: 'NoExecute', tolerationSeconds: seconds }]);
  await world.running(20);
  await world.silentFor(90, 'a-0');
  const { evictions, total } = snapshotOf(world).evictions(2);
  assert.deepEqual([evictions.map(({ pod }) => pod), total], [['default/p60', 'default/p120'], 3]);
  assert.ok((evictions[0]?.when.inSeconds ?? -1) > 0);
});
