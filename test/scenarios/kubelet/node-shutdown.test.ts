// A graceful shutdown of a hollow node whose kubelet says so by conditions, beside the controller with a policy that reads them.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { findCondition, lifecycleConditions, listConditions } from '../../../src/machinery/api/conditions.ts';
import { aPolicy } from '../../support/builders.ts';
import { FleetWorld } from '../../support/fleet-world.ts';

const shutdownGracePeriodMs = 30_000;
const policies = [
  aPolicy({ name: 'pool', maintenance: { conditions: lifecycleConditions, taints: [], maxDurationMs: 3_600_000 } }),
];

async function aWorld(): Promise<FleetWorld> {
  const profile = { shutdownGracePeriodMs, shutdownGracePeriodCriticalPodsMs: 10_000 };
  const world = new FleetWorld({ nodes: 4, controller: { policies }, fleet: { profile } });
  await world.until('all nodes are Ready', 30, () =>
    [1, 2, 3, 4].every((n) => world.ready(`n${n}`)?.status === 'True'),
  );
  await world.advance(10);
  return world;
}

function conditionsOf(world: FleetWorld): readonly (string | undefined)[] {
  const conditions = listConditions(world.node()?.status?.conditions);
  return ['GracefulNodeShutdownInProgress', 'DrainInProgress'].map((type) => findCondition(conditions, type)?.status);
}

test('a node that never returns leaves both conditions True, and is tainted at the normal time', async () => {
  const world = await aWorld();
  await world.bind('web');
  await world.until('the pod runs', 15, () => world.podReady('web')?.status === 'True');
  world.post({ kind: 'shutdown', conditions: true, offMs: 'never' });
  await world.until('Ready=False', 15, () => world.ready()?.status === 'False');
  assert.deepEqual(conditionsOf(world), ['True', 'True']);
  assert.deepEqual(world.taints(), ['not-ready:NoSchedule'], 'its kubelet ends its pods');
  const seconds = await world.until('Unknown', 100, () => world.ready()?.status === 'Unknown');
  assert.ok(seconds >= 35 && seconds <= 75, `${seconds} s after the last status`);
  assert.equal(world.pod('web')?.status?.reason, 'Terminated', 'its kubelet has ended it');
  await world.advance(15);
  assert.deepEqual(world.taints().toSorted(), ['unreachable:NoExecute', 'unreachable:NoSchedule']);
  assert.deepEqual(conditionsOf(world), ['True', 'True']);
  await world.end();
});

test('a node that returns says in its next boot that no shutdown is in progress', async () => {
  const world = await aWorld();
  const bootID = world.node()?.status?.nodeInfo?.['bootID'];
  world.post({ kind: 'shutdown', conditions: true, offMs: 90_000 });
  await world.until('Unknown', 120, () => world.ready()?.status === 'Unknown');
  assert.deepEqual(conditionsOf(world), ['True', 'True']);
  await world.until('Ready again', 120, () => world.ready()?.status === 'True');
  assert.notEqual(world.node()?.status?.nodeInfo?.['bootID'], bootID);
  assert.deepEqual(conditionsOf(world), ['False', 'False']);
  await world.advance(20);
  assert.deepEqual(world.taints(), []);
  await world.end();
});

test('a shutdown that is cancelled takes the conditions back, and the machine stays on', async () => {
  const world = await aWorld();
  const { id } = world.post({ kind: 'shutdown', conditions: true });
  await world.until('the conditions', 15, () => conditionsOf(world).every((status) => status === 'True'));
  world.fleet.faults.withdraw(id);
  await world.until('no condition', 15, () => conditionsOf(world).every((status) => status === 'False'));
  assert.equal(world.ready()?.status, 'True');
  await world.end();
});
