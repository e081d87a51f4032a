// Since when a node counts as unhealthy, for what holds only for a time: no taint that was left over ends it early, and no wrong time
// makes it endless.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { NodePolicy } from '../../../src/controller/model/policy.ts';
import { aPolicy } from '../../support/builders.ts';
import { type ControllerWorld } from '../../support/controller-world.ts';
import { aZonedWorld } from '../../support/zoned-world.ts';

const hour = 3_600;

function detecting(hours: number): NodePolicy {
  return aPolicy({ mode: 'Detect', detect: { markPods: true, evictAfterMs: hours * hour * 1_000 } });
}

function vetoed(hours: number): NodePolicy {
  return aPolicy({ vetoes: { of: [], labels: ['keep'], taints: [], maxDurationMs: hours * hour * 1_000 } });
}

async function aNodeOf(policy: NodePolicy): Promise<ControllerWorld> {
  const world = aZonedWorld({ a: 6, b: 6 }, { policies: [policy] }).start();
  world.addPod('p', 'a-0');
  world.addLabel('a-0', 'keep', 'yes');
  await world.advance(1);
  return world;
}

for (const [kind, policy] of [
  ['mode Detect', detecting(8)],
  ['a veto', vetoed(2)],
] as const) {
  test(`${kind} counts from this silence, whatever taint mode Observe kept from an earlier one`, async () => {
    await using world = await aNodeOf(policy);
    await world.silentFor(60, 'a-0');
    assert.deepEqual(world.taints('a-0'), ['unreachable:NoSchedule']);
    world.changeOptions({ policies: [{ ...policy, mode: 'Observe' }] });
    await world.advance(60);
    world.recover('a-0');
    await world.advance(9 * hour);
    await world.silentFor(120, 'a-0');
    world.changeOptions({ policies: [policy] });
    await world.advance(60);
    assert.equal(world.ready('a-0'), 'Unknown');
    assert.deepEqual(world.evicted(), []);
    assert.deepEqual(world.taints('a-0'), ['unreachable:NoSchedule']);
  });
}

test('a taint of the same key with an effect that the controller does not write says nothing', async () => {
  await using world = await aNodeOf(detecting(24));
  const other = {
    key: 'node.kubernetes.io/unreachable',
    effect: 'PreferNoSchedule',
    timeAdded: '2020-01-01T00:00:00Z',
  };
  world.setTaints('a-0', [other]);
  await world.advance(10);
  await world.silentFor(120, 'a-0');
  assert.equal(world.ready('a-0'), 'Unknown');
  assert.deepEqual(world.evicted(), []);
});

const inTenMinutes = { detect: detecting(1 / 6), veto: vetoed(1 / 6) };
// The admission plugin TaintNodesByCondition adds a taint without a time, and the clock of the kubelet is wrong when it boots.
for (const [kind, policy] of Object.entries(inTenMinutes)) {
  for (const at of ['2029-01-01T00:00:00Z', undefined, '2026-01-02T03:04:00Z']) {
    test(`${kind} ends for a node that never was Ready, with ${at ?? 'no'} time in its condition`, async () => {
      await using world = await aNodeOf(policy);
      const taints = [{ key: 'node.kubernetes.io/not-ready', effect: 'NoSchedule' }];
      world.addNode('a-9', { zone: 'a', ready: 'False', taints });
      world.renewing('a-9');
      world.addLabel('a-9', 'keep', 'yes');
      const times = at === undefined ? {} : { lastHeartbeatTime: at, lastTransitionTime: at };
      const conditions = [
        { type: 'Ready', status: 'False', reason: 'KubeletNotReady', message: 'no network', ...times },
      ];
      const node = world.node('a-9');
      world.putNode({ ...node, status: { ...node.status, conditions } });
      world.addPod('q', 'a-9');
      await world.advance(500);
      assert.deepEqual(world.evicted(), []);
      await world.advance(300);
      assert.deepEqual(world.evicted(), ['q']);
    });
  }
}
