// The dashboard of a controller during outages: what a client shows after each event.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { decodePolicies } from '../../../src/policy/schema/decode-policies.ts';
import type { NodeState } from '../../../src/dashboard/protocol.ts';
import { DashboardWorld } from '../../support/dashboard-world.ts';
import type { DashboardMirror } from '../../support/dashboard-mirror.ts';
import { aZonedWorld, names } from '../../support/zoned-world.ts';

const toleration = (seconds: number) => [
  { operator: 'Exists', effect: 'NoExecute', tolerationSeconds: seconds } as const,
];

function statesOf({ nodes }: DashboardMirror): Readonly<Partial<Record<NodeState, readonly string[]>>> {
  const states: Partial<Record<NodeState, string[]>> = {};
  for (const { name, state } of nodes.values()) (states[state] ??= []).push(name);
  return states;
}

test('a silent node: its cell, its zone, its pod and the timeline follow, by deltas of what changed only', async () => {
  await using world = aZonedWorld({ a: 10, b: 3 });
  world.addPod('patient', 'a-0', toleration(60));
  await using board = new DashboardWorld(world.start());
  await world.advance(5);
  const { mirror } = await board.connected();
  assert.deepEqual(statesOf(mirror).ready?.length, 13);
  assert.deepEqual(mirror.nodes.get('a-0')?.pods, 1);
  assert.deepEqual(
    mirror.state?.zones.map(({ name, nodes, unready, condition }) => [name, nodes, unready, condition]),
    [
      ['r/a', 10, 0, 'normal'],
      ['r/b', 3, 0, 'normal'],
    ],
  );
  await world.silentFor(55, 'a-0');
  const cell = mirror.nodes.get('a-0');
  assert.equal(cell?.state, 'emptying');
  assert.equal(cell.since, world.node('a-0').spec?.taints?.find(({ effect }) => effect === 'NoExecute')?.timeAdded);
  assert.equal(cell.next?.what, 'pod default/patient is evicted');
  assert.equal(mirror.state?.zones[0]?.unready, 1);
  assert.deepEqual(mirror.state.cluster.evictions, [{ pod: 'default/patient', node: 'a-0', at: cell.next.at }]);
  const taint = mirror.timeline.find(({ kind, text }) => kind === 'taints-changed' && text.includes('NoExecute'));
  assert.deepEqual([taint?.node, taint?.warning], ['a-0', false]);
  await world.advance(70);
  assert.deepEqual(mirror.state.cluster.evictionsTotal, 0);
  assert.ok(mirror.timeline.some(({ kind, pod }) => kind === 'pod-evicted' && pod === 'default/patient'));
  world.recover('a-0');
  await world.advance(3);
  assert.deepEqual([mirror.nodes.get('a-0')?.state, mirror.nodes.get('a-0')?.next], ['ready', null]);
  assert.equal(mirror.snapshots, 1, 'everything came by deltas');
  const changed = new Set(mirror.deltas.flatMap(({ nodes = [] }) => nodes.map(({ name }) => name)));
  assert.deepEqual([...changed], ['a-0'], 'no other node was sent');
});

test('a pod that tolerates for longer than there are dates does not stop the dashboard, nor its explanation', async () => {
  await using world = aZonedWorld({ a: 10 });
  world.addPod('endless', 'a-0', toleration(9_999_999_999_999));
  await using board = new DashboardWorld(world.start());
  await world.advance(5);
  const { mirror } = await board.connected();
  await world.silentFor(55, 'a-0');
  assert.equal(mirror.nodes.get('a-0')?.state, 'emptying');
  assert.equal(mirror.state?.cluster.evictions[0]?.at, '9999-12-31T23:59:59Z');
  assert.deepEqual(
    board.logger.lines.filter(({ level }) => level === 'error'),
    [],
  );
});

test('heartbeats change nothing: no node is sent while all are ready', async () => {
  await using world = aZonedWorld({ a: 20 });
  await using board = new DashboardWorld(world.start());
  const { mirror } = await board.connected();
  await world.advance(250);
  const lastHeartbeatTime = '2026-01-02T03:08:00Z';
  for (const name of names(20, 'a-')) {
    const node = world.node(name);
    const conditions = node.status?.conditions?.map((condition) => ({ ...condition, lastHeartbeatTime })) ?? [];
    world.putNode({ ...node, status: { ...node.status, conditions } });
  }
  await world.advance(5);
  assert.deepEqual(
    mirror.deltas.filter(({ nodes, removedNodes }) => nodes !== undefined || removedNodes !== undefined),
    [],
  );
  assert.ok(mirror.samples.length >= 24, 'a sample every ten seconds');
  assert.ok(mirror.samples.every(({ silent, heartbeatP99 }) => silent === 0 && (heartbeatP99 ?? 99) <= 10.25));
});

test('nodes whose silence is not confirmed are suspects at once, and ready again by a heartbeat alone', async () => {
  await using world = aZonedWorld({ a: 60 });
  await using board = new DashboardWorld(await world.running(5));
  const { mirror } = await board.connected();
  world.permitted = false;
  const silent = names(40, 'a-');
  await world.silentFor(53, ...silent);
  assert.deepEqual(statesOf(mirror).suspect?.toSorted(), silent.toSorted());
  assert.equal(mirror.nodes.get('a-0')?.held, 'it looks silent, and a live read of its lease does not confirm it');
  world.renewing(...silent);
  await world.clock.advance(1_100);
  assert.equal(statesOf(mirror).ready?.length, 60);
});

test('nodes that wait for a token know their place, and the queue of their zone its time', async () => {
  await using world = aZonedWorld({ a: 100 });
  await using board = new DashboardWorld(await world.running(5));
  const { mirror } = await board.connected();
  await world.silentFor(56, ...names(4, 'a-'));
  const waiting = [...mirror.nodes.values()].filter(({ state }) => state === 'unreachable');
  assert.equal(waiting.length, 3);
  const times = waiting.map(({ next }) => Date.parse(next?.at ?? '')).toSorted((x, y) => x - y);
  const [first = 0, second = 0, third = 0] = times;
  assert.ok(Math.abs(second - first - 10_000) <= 2_000 && Math.abs(third - second - 10_000) <= 2_000, String(times));
  const [zone] = mirror.state?.zones ?? [];
  assert.deepEqual([zone?.waiting, zone?.ratePerSecond, zone?.drainSeconds], [3, 0.1, 30]);
  const deltasBefore = mirror.deltas.length;
  await world.advance(7);
  const sent = mirror.deltas.slice(deltasBefore).flatMap(({ nodes = [] }) => nodes.map(({ name }) => name));
  assert.ok(sent.length <= 2, `nodes that only wait are not sent again: ${sent.join(' ')}`);
});

test('a stopped zone, a stale watch and a full disruption are banners with their beginning and what ends them', async () => {
  await using world = aZonedWorld({ a: 10, b: 3 });
  await using board = new DashboardWorld(await world.running(5));
  const { mirror } = await board.connected();
  await world.silentFor(60, ...names(6, 'a-'));
  const stopped = mirror.hold('zone-stopped');
  assert.match(stopped?.why ?? '', /the eviction rate of zone r\/a is 0 \(small-zone-disrupted\)/);
  assert.match(stopped?.ends ?? '', /of the unready nodes of zone r\/a ready again/);
  assert.ok(stopped?.since !== null);
  assert.equal(mirror.nodes.get('a-0')?.held, 'the eviction rate of zone r/a is 0');
  world.recover(...names(6, 'a-'));
  await world.advance(10);
  assert.equal(mirror.hold('zone-stopped'), undefined);
  world.loseContact();
  await world.advance(60);
  const stale = mirror.hold('stale');
  assert.ok(stale?.since !== null && stale?.since !== undefined);
  assert.match(stale.ends, /API server is reachable again/);
  world.restoreContact();
  await world.advance(120);
  assert.equal(mirror.hold('stale'), undefined);
  await world.silentFor(600, ...names(10, 'a-'), ...names(3, 'b-'));
  assert.match(mirror.hold('full-disruption')?.why ?? '', /all zones are fully disrupted/);
  assert.ok([...mirror.nodes.values()].every(({ held }) => held === 'all zones are fully disrupted'));
});

test('policies: numbers of nodes, a breaker with its text, maintenance that ends by time alone', async () => {
  const policies = decodePolicies([
    {
      name: 'edge',
      nodeSelector: { matchLabels: { 'topology.kubernetes.io/zone': 'a' } },
      limits: { maxUnhealthy: { count: 1 }, cooldown: '30s' },
      maintenance: { conditions: ['Maintenance'], maxDuration: '60s' },
    },
  ]);
  await using world = aZonedWorld({ a: 10, b: 3 }, { policies });
  await using board = new DashboardWorld(await world.running(5));
  const { mirror } = await board.connected();
  const row = (): unknown => mirror.state?.cluster.policies[0];
  assert.deepEqual(row(), {
    name: 'edge',
    mode: 'Enforce',
    windows: [],
    nodes: 10,
    unhealthy: 0,
    held: 0,
    breaker: { open: false, text: '0 of 10 nodes unhealthy, limit 1' },
  });
  await world.silentFor(60, 'a-0', 'a-1', 'a-2');
  assert.match(
    JSON.stringify(row()),
    /"unhealthy":3,"held":3,"breaker":\{"open":true,"text":"3 of 10 nodes unhealthy, limit 1"/,
  );
  assert.match(mirror.hold('breaker')?.why ?? '', /the breaker of policy edge is open/);
  world.recover('a-0', 'a-1', 'a-2');
  await world.advance(60);
  assert.equal(mirror.hold('breaker'), undefined);
  world.setCondition('a-5', 'Maintenance', 'True');
  await world.advance(2);
  assert.equal(mirror.nodes.get('a-5')?.state, 'maintenance');
  assert.equal(mirror.nodes.get('a-5')?.next?.what, 'its planned maintenance ends at the latest');
  await world.advance(61);
  assert.equal(mirror.nodes.get('a-5')?.state, 'ready', 'no event says so');
});

test('a pause of one node is its state; a pause of all nodes is a banner', async () => {
  await using world = aZonedWorld({ a: 10 });
  await using board = new DashboardWorld(await world.running(5));
  const { mirror } = await board.connected();
  world.annotatePause('a-0', 'true');
  await world.advance(2);
  assert.deepEqual(
    [mirror.nodes.get('a-0')?.state, mirror.nodes.get('a-0')?.held],
    ['paused', 'paused by an annotation of the node'],
  );
  world.annotatePause('a-0', undefined);
  world.changeOptions({ paused: true });
  await world.advance(2);
  assert.deepEqual(statesOf(mirror), { ready: names(10, 'a-') });
  const paused = mirror.hold('paused');
  assert.match(paused?.why ?? '', /paused by the config file/);
  assert.ok(paused?.since !== null, 'the change of the setting is its beginning');
  world.changeOptions({ paused: false });
  await world.advance(2);
  assert.equal(mirror.hold('paused'), undefined);
});

test('nodes that are added and removed come and go', async () => {
  await using world = aZonedWorld({ a: 5 });
  await using board = new DashboardWorld(await world.running(5));
  const { mirror } = await board.connected();
  world.addNodes(['new'], { zone: 'b' });
  world.removeNode('a-0');
  await world.advance(3);
  assert.deepEqual([mirror.nodes.has('new'), mirror.nodes.has('a-0'), mirror.snapshots], [true, false, 1]);
});

test('a client that is slow gets a snapshot, which equals what another client has', async () => {
  await using world = aZonedWorld({ a: 60, b: 3 });
  await using board = new DashboardWorld(await world.running(5));
  const [fast, slow] = [await board.connected(), await board.connected()];
  slow.stream.stick();
  await world.silentFor(120, ...names(20, 'a-'));
  slow.stream.unstick();
  await world.advance(3);
  assert.deepEqual(Object.fromEntries(slow.mirror.nodes), Object.fromEntries(fast.mirror.nodes));
  assert.deepEqual(slow.mirror.state?.cluster, fast.mirror.state?.cluster);
});

test('after a restart the same states are shown since the same times', async () => {
  await using world = aZonedWorld({ a: 20, b: 3 });
  world.addPod('p', 'a-0', toleration(3_600));
  const shown = async (): Promise<ReadonlyMap<string, readonly string[]>> => {
    await using board = new DashboardWorld(world);
    const { mirror } = await board.connected();
    return new Map([...mirror.nodes.values()].map(({ name, state, since }) => [name, [state, since]]));
  };
  world.start();
  await world.silentFor(60, 'a-0');
  world.post('a-1', 'False');
  await world.advance(120);
  const before = await shown();
  assert.deepEqual([before.get('a-0')?.[0], before.get('a-1')?.[0]], ['emptying', 'tainted']);
  await world.restart();
  await world.advance(5);
  assert.deepEqual(await shown(), before);
});

test('a standby says who leads, shows its nodes, and predicts nothing', async () => {
  await using world = aZonedWorld({ a: 5, b: 3 });
  world.leading = false;
  await using board = new DashboardWorld(world);
  await world.advance(5);
  const { mirror } = await board.connected();
  const { leading, leader, replicas } = mirror.state?.cluster ?? {};
  assert.deepEqual([leading, leader, replicas], [false, 'other-replica', ['this-replica', 'other-replica']]);
  assert.match(mirror.hold('not-leader')?.ends ?? '', /ask the leader, other-replica/);
  assert.deepEqual(
    mirror.state?.zones.map(({ name, nodes, condition, waiting }) => [name, nodes, condition, waiting]),
    [
      ['r/a', 5, 'initial', null],
      ['r/b', 3, 'initial', null],
    ],
  );
  await world.silentFor(75, 'a-0');
  assert.equal(mirror.nodes.get('a-0')?.state, 'suspect', 'time alone makes it silent');
  assert.equal(mirror.nodes.get('a-0')?.next, null);
});
