// Policies that claim a node equally: none of them applies, and what any of them holds is held.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { NodePolicy } from '../../../src/controller/model/policy.ts';
import { aPolicy } from '../../support/builders.ts';
import type { ControllerWorld } from '../../support/controller-world.ts';
import { explainNode } from '../../support/explained.ts';
import { aZonedWorld, names } from '../../support/zoned-world.ts';

const pool = names(8, 'a-');
const [a0 = '', a1 = '', a2 = '', a3 = ''] = pool;
const rival = aPolicy({ name: 'rival' });

function aPool(...policies: readonly NodePolicy[]): ControllerWorld {
  const options = { policies, nodeEvictionRate: 1, unhealthyZoneThreshold: 1, controlPlanePathFailureHoldMs: 0 };
  const world = aZonedWorld({ a: 8, b: 8 }, options);
  for (const node of pool) world.addPod(`pod-${node}`, node);
  return world.start();
}

for (const mode of ['Observe', 'Paused'] as const)
  test(`mode ${mode} of one of them holds, whichever comes first`, async () => {
    for (const policies of [
      [rival, aPolicy({ name: 'z', mode })],
      [aPolicy({ name: 'b', mode }), rival],
    ]) {
      await using world = aPool(...policies);
      await world.silentFor(120, a0);
      assert.deepEqual([world.ready(a0), world.taints(a0), world.evicted()], ['True', [], []]);
      assert.deepEqual(
        explainNode(world, a0).holds.map(({ kind }) => kind),
        [mode === 'Observe' ? 'observed' : 'paused'],
      );
      world.changeOptions({ policies: [rival] });
      await world.advance(10);
      assert.deepEqual(world.evicted(), [`pod-${a0}`], 'without the claim of the other policy nothing holds');
    }
  });

test('maintenance of one of them holds, and the one that ends last counts', async () => {
  const until = (maxDurationMs: number): NodePolicy['maintenance'] => ({
    conditions: ['Maintenance'],
    taints: [],
    maxDurationMs,
  });
  await using world = aPool(
    aPolicy({ name: 'long', maintenance: until(300_000) }),
    aPolicy({ name: 'short', maintenance: until(100_000) }),
  );
  world.setCondition(a0, 'Maintenance', 'True');
  await world.silentFor(250, a0);
  assert.deepEqual([world.ready(a0), world.tainted(pool), world.evicted()], ['Unknown', [], []]);
  await world.silentFor(120, a0);
  assert.deepEqual(world.evicted(), [`pod-${a0}`]);
});

test('the open breaker of one of them holds: nodes that two policies claim count in both', async () => {
  const limits = { maxUnhealthy: { percent: undefined, count: 2 }, cooldownMs: 60_000, resetAtMs: undefined };
  await using world = aPool(rival, aPolicy({ name: 'limited', limits }));
  await world.silentFor(60, a0, a1);
  assert.deepEqual(world.tainted(pool), [a0, a1]);
  await world.silentFor(120, a2, a3);
  assert.deepEqual(world.tainted(pool), [a0, a1], 'the breaker opened with the third');
  assert.deepEqual([world.ready(a2), world.ready(a3)], ['Unknown', 'Unknown']);
});

test('limits of evictions of each of them hold: places, the rate of deletions, and pods that are over', async () => {
  const over = { maxConcurrentEvictions: 1, podDeletionsPerSecond: 0.1, keepCompletedPods: true };
  await using world = aPool(aPolicy({ name: 'limited', ...over }), rival);
  for (const pod of ['second', 'third']) world.addPod(pod, a0);
  world.addPod('over', a0);
  world.changePod('over', (pod) => ({ ...pod, status: { ...pod.status, phase: 'Succeeded' } }));
  await world.silentFor(62, a0, a1);
  assert.equal(world.tainted(pool).length, 1, 'one place');
  await world.silentFor(120, a0, a1);
  const evicted = world.evicted().filter((name) => ['second', 'third', `pod-${a0}`].includes(name));
  const seconds = evicted.map((name) => world.evictedAtSeconds(name) ?? 0);
  for (const [place, at] of seconds.entries()) if (place > 0) assert.ok(at - (seconds[place - 1] ?? 0) >= 9.9);
  assert.equal(world.evicted().includes('over'), false);
});

test('a policy that is invalid holds beside the one that applies, and replaces none of its settings', async () => {
  const guard = aPolicy({ name: 'broken', priority: 9, mode: 'Paused', isGuard: true });
  await using world = aPool(aPolicy({ name: 'observing', mode: 'Observe' }), guard);
  world.setTaints(a0, [{ key: 'node.kubernetes.io/unreachable', effect: 'NoExecute' }]);
  await world.advance(60);
  assert.deepEqual(world.taints(a0), ['unreachable:NoExecute'], 'mode Observe writes nothing, a recovery included');
  world.changeOptions({ policies: [aPolicy({ name: 'quick', nodeMonitorGracePeriodMs: 20_000 }), guard] });
  await world.silentFor(60, a1);
  assert.deepEqual([world.ready(a1), world.evicted()], ['True', []]);
  const { policy, grace } = explainNode(world, a1);
  assert.deepEqual([policy?.name, grace?.seconds], ['quick', 20]);
});
