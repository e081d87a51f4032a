// Pods of nodes that report Ready=False for long are marked NotReady where the policy says so: once, as those of silent nodes.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { NodePolicy } from '../../../src/controller/model/policy.ts';
import { aPolicy } from '../../support/builders.ts';
import type { ControllerWorld } from '../../support/controller-world.ts';
import { aZonedWorld } from '../../support/zoned-world.ts';

const marking = (others: Partial<NodePolicy> = {}): NodePolicy =>
  aPolicy({ name: 'marking', markPodsOfNotReadyAfterMs: 60_000, ...others });

function aWorld(policies: readonly NodePolicy[] = [marking()]): ControllerWorld {
  const world = aZonedWorld({ a: 4, b: 4 }, { policies, podMarkingRate: 10 });
  for (const pod of ['one', 'two']) world.addPod(pod, 'a-0', [{ operator: 'Exists' }]);
  return world;
}

const readyOf = (world: ControllerWorld, pod: string): string | undefined =>
  world.pod(pod)?.status?.conditions?.find(({ type }) => type === 'Ready')?.status;
const marks = (world: ControllerWorld): number => world.decided('pod-marked-not-ready').length;
/** Its kubelet reports its status, and that of the pod. */
function report(world: ControllerWorld, pod: string, status: string): void {
  world.changePod(pod, (object) => ({
    ...object,
    status: { ...object.status, conditions: [{ type: 'Ready', status, lastTransitionTime: '2026-01-02T03:04:05Z' }] },
  }));
}

test('after the time of the policy, and not before; without it never', async () => {
  for (const [policies, isMarked] of [
    [[marking()], true],
    [[aPolicy({ name: 'none' })], false],
  ] as const) {
    await using world = aWorld(policies);
    await world.running(20);
    world.post('a-0', 'False');
    await world.advance(58);
    assert.equal(marks(world), 0);
    await world.advance(4);
    assert.equal(marks(world), isMarked ? 2 : 0);
    assert.equal(readyOf(world, 'one'), isMarked ? 'False' : 'True');
  }
});

test('a kubelet that takes the mark back is right: it is not made again in the same state of the node', async () => {
  await using world = aWorld();
  await world.running(20);
  world.post('a-0', 'False');
  await world.advance(70);
  report(world, 'one', 'True');
  await world.advance(600);
  assert.equal(readyOf(world, 'one'), 'True');
  assert.equal(marks(world), 2);
  world.post('a-0', 'True');
  await world.advance(10);
  world.post('a-0', 'False');
  await world.advance(70);
  assert.equal(readyOf(world, 'one'), 'False', 'the next time it is marked again');
});

test('a node that is Ready again in time keeps its pods, and one that becomes silent has them marked as silent', async () => {
  await using world = aWorld();
  await world.running(20);
  world.post('a-0', 'False');
  await world.advance(50);
  world.post('a-0', 'True');
  await world.advance(60);
  assert.equal(marks(world), 0);
  world.post('a-0', 'False');
  await world.advance(70);
  assert.equal(marks(world), 2);
  report(world, 'one', 'True');
  await world.silentFor(70, 'a-0');
  assert.equal(world.ready('a-0'), 'Unknown');
  assert.equal(readyOf(world, 'one'), 'False');
});

test('the rate of the zone counts, and holds do: a paused node keeps its pods', async () => {
  await using world = aWorld([marking({ mode: 'Paused' })]);
  await world.running(20);
  world.post('a-0', 'False');
  await world.advance(300);
  assert.equal(marks(world), 0);
  world.changeOptions({ policies: [marking()] });
  await world.advance(5);
  assert.equal(marks(world), 2);
});

test('a pod that comes later to such a node is marked as before, and a heartbeat of the node changes nothing', async () => {
  await using world = aWorld();
  await world.running(20);
  world.post('a-0', 'False');
  await world.advance(100);
  world.addPod('late', 'a-0', [{ operator: 'Exists' }]);
  await world.advance(100);
  assert.equal(readyOf(world, 'late'), 'False');
  assert.equal(marks(world), 3);
});
