// Pods whose deletion only a kubelet could complete that is not there: reported, with what would free them, and never deleted by force.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { describePodOutlook } from '../../../src/controller/report/text/describe-outlooks.ts';
import { describeStatus } from '../../../src/controller/report/text/describe-status.ts';
import type { PodView } from '../../../src/machinery/api/pod.ts';
import { aPolicy } from '../../support/builders.ts';
import type { ControllerWorld } from '../../support/controller-world.ts';
import { explainPod, statusOf } from '../../support/explained.ts';
import { aZonedWorld } from '../../support/zoned-world.ts';

const policy = aPolicy({ name: 'db', terminatingTimeoutMs: 300_000 });

/** The pod is evicted from a-0 about 70 s after the beginning, and its kubelet is silent. */
async function aWorld(): Promise<ControllerWorld> {
  const world = aZonedWorld({ a: 4, b: 4 }, { policies: [policy] });
  world.addPod('pod', 'a-0');
  await world.running(20);
  await world.silentFor(60, 'a-0');
  assert.deepEqual(world.evicted(), ['pod']);
  return world;
}

const gauge = (world: ControllerWorld, name: string): number | undefined =>
  world.meter.read().get(`node_lifecycle_policy_stuck_pod${name}{policy="db"}`);

test('a pod that terminates for longer than the time of its policy is counted with its age, and explained', async () => {
  await using world = await aWorld();
  assert.deepEqual([gauge(world, 's'), gauge(world, '_seconds')], [0, 0]);
  assert.doesNotMatch(describePodOutlook(explainPod(world, 'pod')), /overdue/u);
  await world.advance(301);
  assert.equal(gauge(world, 's'), 1);
  const seconds = gauge(world, '_seconds') ?? 0;
  assert.ok(seconds >= 300 && seconds < 330, String(seconds));
  const page = describePodOutlook(explainPod(world, 'pod'));
  assert.match(
    page,
    /which is overdue for 3\d\ds \(terminatingTimeout of policy db\): its node comes back, the node gets/u,
  );
  assert.match(
    describeStatus(statusOf(world)),
    /db: mode Enforce, .*1 pods are terminating for too long, one for 3\d\ds/u,
  );
});

test('it is no longer stuck when its node is Ready, when it is gone, or without the time', async () => {
  await using world = await aWorld();
  await world.advance(400);
  assert.equal(gauge(world, 's'), 1);
  world.recover('a-0');
  await world.advance(2);
  assert.equal(gauge(world, 's'), 0, 'its kubelet completes the deletion');
  await world.silentFor(60, 'a-0');
  assert.equal(gauge(world, 's'), 1);
  world.changeOptions({ policies: [aPolicy({ name: 'db' })] });
  assert.equal(gauge(world, 's'), undefined);
  world.changeOptions({ policies: [policy] });
  world.removePod('pod');
  await world.advance(1);
  assert.equal(gauge(world, 's'), 0);
});

test('nothing is deleted because of it', async () => {
  await using world = await aWorld();
  await world.advance(3_000);
  assert.equal(world.writes.filter(({ verb }) => verb === 'delete').length, 1);
});

test('any number of them is counted', async () => {
  await using world = await aWorld();
  const many = Array.from({ length: 150_000 }, () => ({ nodeName: 'a-0', deletionAtSeconds: 1 }) as PodView);
  world.pods.byIndex = () => many;
  const [count] = world.lifecycle.stages.policies.counts();
  assert.equal(count?.stuck?.pods, 150_000);
});
