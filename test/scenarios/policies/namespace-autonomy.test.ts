// The label of a namespace asks that its pods are kept: of whole replicas, whose watch of namespaces fails or repeats itself.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { defaultControllerOptions } from '../../../src/controller/model/options.ts';
import { describePodOutlook } from '../../../src/controller/report/text/describe-outlooks.ts';
import { describeStatus } from '../../../src/controller/report/text/describe-status.ts';
import { autonomyLabel, type Pod } from '../../../src/machinery/api/pod.ts';
import { addNetworkFault } from '../../simulator/faults/network-faults.ts';
import { aPolicy } from '../../support/builders.ts';
import { ReplicaWorld } from '../../support/replica-world.ts';

const evictAfterMs = 1_200_000;
const policies = [aPolicy({ name: 'edge', podAutonomy: { evictAfterMs } })];

function aWorld(seed?: number): ReplicaWorld {
  const world = new ReplicaWorld({ podsPerNode: 3, controller: { ...defaultControllerOptions, policies } }, seed);
  world.world.changeSettings({ namespaceAutonomy: true });
  return world;
}

function setLabel({ world }: ReplicaWorld, value: string | null): void {
  world.storage.merge('namespaces', { name: 'default' }, { metadata: { labels: { [autonomyLabel]: value } } });
}

/** Reads of namespaces are denied from now on. */
async function deny(world: ReplicaWorld): Promise<void> {
  for (const verb of ['watch', 'list'] as const)
    addNetworkFault(world.world.network, {
      kind: 'error-answers',
      verb,
      resource: 'namespaces',
      rate: 1,
      code: 403,
      from: 'server',
      retryAfterMs: undefined,
    });
  for (const server of world.world.servers.values()) server.endWatches();
  await world.advance(5_000);
}

function deleted({ sent }: ReplicaWorld): number {
  return sent.filter(({ verb, resource }) => verb === 'delete' && resource === 'pods').length;
}

for (const label of [null, 'true'] as const)
  test(`pods of a silent node ${label === null ? 'leave' : 'stay'} where the label of their namespace is ${label}`, async () => {
    using world = aWorld();
    await world.settle();
    setLabel(world, label);
    await world.advance(10_000);
    world.cut('n1');
    await world.advance(400_000);
    assert.equal(deleted(world) > 0, label === null, String(deleted(world)));
  });

test('while namespaces cannot be read their pods may ask: they stay until the end of the policy, and status and explain say so', async () => {
  using world = aWorld();
  await world.settle();
  await deny(world);
  setLabel(world, 'true');
  await world.advance(90_000);
  world.cut('n1');
  await world.advance(400_000);
  assert.equal(deleted(world), 0);
  const snapshot = world.leader().run?.manager.snapshot(() => undefined);
  assert.ok(snapshot !== undefined);
  assert.match(describeStatus(snapshot.status()), /namespaces: backing-off/u);
  const pods: readonly Pod[] = world.world.storage.list('pods');
  const outlook = snapshot.pod('default', pods.find(({ spec }) => spec?.nodeName === 'n1')?.metadata.name ?? '');
  assert.ok(outlook !== undefined);
  assert.match(
    describePodOutlook(outlook),
    /the labels of namespaces are not known now, so that nodelifecycle\/autonomy of its own may ask for it, and policy edge permits/u,
  );
  await world.advance(evictAfterMs);
  assert.ok(deleted(world) >= 3, 'the policy has an end');
});

test('replicas that cannot read namespaces at their start lead all the same', async () => {
  using world = aWorld();
  await world.settle();
  await deny(world);
  for (const replica of world.world.replicas.values()) replica.kill(1_000);
  await world.advance(30_000);
  world.cut('n1');
  await world.advance(400_000);
  assert.equal(world.ready('n1'), 'Unknown');
  assert.equal(deleted(world), 0);
});

test('frames that are repeated do not take a label away that was removed and set again', async () => {
  for (const seed of [1, 2, 3]) {
    using world = aWorld(seed);
    await world.settle();
    const end = addNetworkFault(world.world.network, { kind: 'duplicate-frames', rate: 1 });
    for (const value of ['true', null, 'true']) {
      setLabel(world, value);
      await world.advance(seed === 1 ? 10 : 2_000);
    }
    await world.advance(10_000);
    end();
    for (const { run } of world.world.replicas.values())
      assert.equal(run?.manager.informers.autonomousNamespaces?.store.size, 1, `seed ${seed}`);
  }
});
