// What the dashboard may never do: grow, or delay or break the controller.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { DashboardSources } from '../../../src/dashboard/server/dashboard-sources.ts';
import { DashboardWorld } from '../../support/dashboard-world.ts';
import { aZonedWorld, names } from '../../support/zoned-world.ts';

test('a day with nodes and pods that come and go, and a client that connects now and then: memory stays bounded', async () => {
  await using world = aZonedWorld({ a: 6 });
  await using board = new DashboardWorld(world.start());
  const sizes: number[] = [];
  for (let hour = 0; hour < 24; hour += 1) {
    const client = board.connect();
    for (let round = 0; round < 6; round += 1) {
      const name = `temporary-${hour}-${round}`;
      world.addNodes([name], { zone: `zone-${hour}-${round}` });
      world.addPod(`pod-${hour}-${round}`, name);
      await world.silentFor(60, name);
      world.removeNode(name);
      world.removePod(`pod-${hour}-${round}`);
      await world.advance(40);
    }
    assert.equal(client.mirror.nodes.size, 6);
    client.leave();
    await world.advance(3_000);
    const { nodes, marks, others } = board.keeper.size;
    assert.deepEqual([nodes, marks], [0, 0], 'without a client no states are kept');
    sizes.push(others);
  }
  assert.ok(Math.max(...sizes) <= 500 + 360, sizes.join(' '));
  assert.equal(board.streams.size, 0);
});

test('states are kept for a client that comes back within a minute', async () => {
  await using world = aZonedWorld({ a: 6 });
  await using board = new DashboardWorld(await world.running(5));
  const client = await board.connected();
  client.leave();
  await world.advance(30);
  assert.equal(board.keeper.size.nodes, 6);
  world.removeNode('a-0');
  const { mirror } = await board.connected();
  await world.advance(2);
  assert.equal(mirror.nodes.size, 5);
});

test('a dashboard that cannot compute anything logs it once a minute, and the controller goes on', async () => {
  await using world = aZonedWorld({ a: 6 });
  const { stages } = world.lifecycle;
  const broken: DashboardSources['stages'] = Object.create(stages, {
    policies: {
      get: () => {
        throw new Error('broken stage');
      },
    },
  }) as DashboardSources['stages'];
  await using board = new DashboardWorld(world.start(), { stages: broken });
  const { mirror } = board.connect();
  await world.silentFor(115, 'a-0');
  assert.equal(mirror.snapshots, 0);
  assert.deepEqual(world.tainted(names(6, 'a-')), ['a-0']);
  const failures = board.logger.at('error');
  assert.ok(failures.length >= 1 && failures.length <= 3, String(failures.length));
  assert.equal(failures[0]?.message, 'dashboard update failed');
});

test('one node that cannot be computed does not hide the others', async () => {
  await using world = aZonedWorld({ a: 6 });
  const { stages } = world.lifecycle;
  const zoneOf = (node: Parameters<typeof stages.policies.zoneOf>[0]): string => {
    if (node.name === 'a-3') throw new Error('broken node');
    return stages.policies.zoneOf(node);
  };
  const policies = new Proxy(stages.policies, {
    get: (target, key) => {
      if (key === 'zoneOf') return zoneOf;
      const value: unknown = Reflect.get(target, key, target);
      return typeof value === 'function' ? (value.bind(target) as unknown) : value;
    },
  });
  const patched = Object.create(stages, { policies: { value: policies } }) as DashboardSources['stages'];
  await using board = new DashboardWorld(await world.running(5), { stages: patched });
  const { mirror } = await board.connected();
  assert.deepEqual([...mirror.nodes.keys()].toSorted(), ['a-0', 'a-1', 'a-2', 'a-4', 'a-5']);
  assert.equal(board.logger.at('error').length, 1);
});

test('a thousand nodes that become silent at once: one version has them all, and later ones only what changed', async () => {
  await using world = aZonedWorld({ a: 700, b: 700 });
  await using board = new DashboardWorld(await world.running(5));
  const { mirror } = await board.connected();
  await world.silentFor(70, ...names(650, 'a-'), ...names(650, 'b-'));
  const before = mirror.deltas.length;
  assert.equal([...mirror.nodes.values()].filter(({ state }) => state === 'ready').length, 100);
  await world.advance(30);
  const sent = mirror.deltas.slice(before).reduce((sum, { nodes = [] }) => sum + nodes.length, 0);
  assert.ok(sent < 100, `${sent} nodes were sent again`);
});
