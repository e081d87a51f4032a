// What one version of the dashboard costs: it is computed on the thread that renews the leader's lease.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { DashboardSources } from '../../../src/dashboard/server/dashboard-sources.ts';
import { aPolicy, inZone } from '../../support/builders.ts';
import type { ControllerWorld } from '../../support/controller-world.ts';
import { DashboardWorld } from '../../support/dashboard-world.ts';
import { aZonedWorld, names } from '../../support/zoned-world.ts';

type Calls = Map<string, number>;

/** The stages, whose calls are counted by method. */
function counting(world: ControllerWorld, calls: Calls): DashboardSources['stages'] {
  return proxyOf(world.lifecycle.stages, (stage) =>
    typeof stage === 'object' && stage !== null
      ? proxyOf(stage, (method, key) => (isMethod(method) ? counted(stage, method, key, calls) : method))
      : stage,
  );
}

function proxyOf<T extends object>(target: T, replace: (value: unknown, key: string) => unknown): T {
  return new Proxy(target, { get: (_, key) => replace(Reflect.get(target, key, target), String(key)) });
}

type Method = (...args: never[]) => unknown;

function isMethod(value: unknown): value is Method {
  return typeof value === 'function';
}

function counted(stage: object, method: Method, key: string, calls: Calls): Method {
  return (...args: never[]): unknown => {
    calls.set(key, (calls.get(key) ?? 0) + 1);
    return Reflect.apply(method, stage, args);
  };
}

/** Calls of these methods in 30 versions of the dashboard. Each costs time proportional to the nodes, zones or pods. */
async function callsIn30s(world: ControllerWorld, ...methods: readonly string[]): Promise<readonly number[]> {
  const calls: Calls = new Map();
  await using board = new DashboardWorld(world, { stages: counting(world, calls) });
  await board.connected();
  calls.clear();
  await world.advance(30);
  assert.deepEqual(board.logger.at('error'), []);
  assert.ok((calls.get('selectionOf') ?? 0) > 30, 'nodes are computed');
  return methods.map((method) => calls.get(method) ?? 0);
}

test('pods that wait for a token of their policy: no list of them is read for a node', async () => {
  const policies = [aPolicy({ podDeletionsPerSecond: 0.1 })];
  await using world = aZonedWorld({ a: 12, b: 4 }, { policies, nodeEvictionRate: 1 });
  for (const node of names(6, 'a-')) for (const pod of names(10, `${node}-`)) world.addPod(pod, node);
  await world.running(1);
  for (const node of names(6, 'a-')) world.post(node, 'False');
  await world.advance(30);
  assert.deepEqual(await callsIn30s(world, 'waitOf'), [0]);
  await using board = new DashboardWorld(world);
  const { mirror } = await board.connected();
  const cell = mirror.nodes.get('a-1');
  assert.equal(cell?.held, 'its pod waits for a token of policy zone-a');
  assert.equal(cell.next?.at, null, 'when it gets one is on the page of the pod');
});

test('silent nodes, of which is not known yet which failed together: no list of the others is read for a node', async () => {
  await using world = aZonedWorld({ a: 24, b: 24 });
  for (const node of names(24, 'a-')) world.addPod(`pod-${node}`, node);
  await world.running(15);
  for (const node of names(8, 'a-')) world.goSilent(node);
  await world.advance(38);
  assert.deepEqual(await callsIn30s(world, 'awaitedFor'), [0]);
});

test('nodes that wait for their timeout in eviction mode: their list is read once for each version', async () => {
  await using world = aZonedWorld({ a: 24, b: 24 }, { taintBasedEvictions: false }, { taintEviction: false });
  for (const node of names(24, 'a-')) world.addPod(`pod-${node}`, node);
  await world.running(15);
  await world.silentFor(60, ...names(8, 'a-'));
  const [calls = Infinity] = await callsIn30s(world, 'notQueued');
  assert.ok(calls > 0 && calls <= 31, String(calls));
});

test('nodes that wait in the racks of halls: the racks are read once for each version', async () => {
  const rack = 'example.com/rack';
  const zones = { failureDomain: [rack], outerFailureDomain: ['topology.kubernetes.io/zone'], settings: {} };
  const policies = [aPolicy({ name: 'metal', selector: inZone('a', 'b'), zones })];
  await using world = aZonedWorld({ a: 24, b: 24 }, { policies, nodeEvictionRate: 0.01 });
  for (const [place, node] of [...names(24, 'a-'), ...names(24, 'b-')].entries()) {
    world.setLabels(node, { ...world.node(node).metadata.labels, [rack]: `r${place % 4}` });
    world.addPod(`pod-${node}`, node);
  }
  await world.running(15);
  for (const node of names(8, 'a-')) world.post(node, 'False');
  await world.advance(10);
  const [zoneLists = Infinity, competing = Infinity] = await callsIn30s(world, 'zonesOfAllLevels', 'competing');
  assert.equal(competing, 0);
  assert.ok(zoneLists <= 4 * 31, `${zoneLists} lists of zones`);
});
