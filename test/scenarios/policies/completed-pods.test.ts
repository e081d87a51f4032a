// Completed pods of nodes whose policy keeps them: they stay whatever the health of the node, with what is in their logs.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { describePodOutlook } from '../../../src/controller/report/text/describe-outlooks.ts';
import type { ControllerOptions } from '../../../src/controller/model/options.ts';
import { aPolicy } from '../../support/builders.ts';
import type { ControllerWorld } from '../../support/controller-world.ts';
import { explainPod } from '../../support/explained.ts';
import { aZonedWorld } from '../../support/zoned-world.ts';

const keeping = aPolicy({ keepCompletedPods: true });
const for300s = [{ key: 'node.kubernetes.io/unreachable', operator: 'Exists', tolerationSeconds: 300 }];

function complete(world: ControllerWorld, name: string, phase: string): void {
  world.changePod(name, (pod) => ({ ...pod, status: { ...pod.status, phase } }));
}

/** Pods on `a-0`, whose zone has this policy, and on `b-0`, which is in none: two are completed, `web` and `other-web` run. */
function aWorld(over: Partial<ControllerOptions> = {}): ControllerWorld {
  const world = aZonedWorld({ a: 4, b: 4 }, { policies: [keeping], nodeEvictionRate: 1, ...over });
  for (const name of ['done', 'failed', 'web']) world.addPod(name, 'a-0');
  for (const name of ['other-done', 'other-web']) world.addPod(name, 'b-0');
  for (const name of ['done', 'other-done']) complete(world, name, 'Succeeded');
  complete(world, 'failed', 'Failed');
  return world.start();
}

const reason = /eviction +none: it is completed, and policy zone-a keeps completed pods \(keepCompletedPods\)/;

test('completed pods of a silent node stay with the policy, and are deleted as in kube-controller-manager without it', async () => {
  await using world = aWorld();
  await world.advance(1);
  assert.match(describePodOutlook(explainPod(world, 'done')), reason, 'before the node is silent');
  await world.silentFor(120, 'a-0', 'b-0');
  assert.deepEqual([...world.evicted()].sort(), ['other-done', 'other-web', 'web']);
  const text = describePodOutlook(explainPod(world, 'failed'));
  assert.match(text, reason);
  assert.doesNotMatch(text, /not tolerated/);
});

test('a pod that completes before its toleration ends stays', async () => {
  await using world = aWorld();
  world.addPod('job', 'a-0', for300s);
  world.addPod('slow', 'a-0', for300s);
  await world.silentFor(120, 'a-0');
  complete(world, 'job', 'Succeeded');
  await world.advance(1);
  const cancelled = { kind: 'eviction-cancelled', pod: 'default/job', node: 'a-0', why: 'kept-by-policy' } as const;
  assert.deepEqual(world.decided('eviction-cancelled'), [cancelled]);
  await world.advance(400);
  assert.deepEqual([...world.evicted()].sort(), ['slow', 'web']);
});

test('for the taint of another client a completed pod is deleted all the same', async () => {
  await using world = aWorld();
  await world.silentFor(120, 'a-0');
  assert.deepEqual(world.evicted(), ['web']);
  const taints = world.node('a-0')?.spec?.taints ?? [];
  world.setTaints('a-0', [...taints, { key: 'example.com/drain', effect: 'NoExecute' }]);
  await world.advance(10);
  assert.deepEqual([...world.evicted()].sort(), ['done', 'failed', 'web']);
});

test('a policy that keeps them no more lets them go within a minute, and one that keeps them again holds the rest', async () => {
  await using world = aWorld();
  world.addPod('late', 'a-0', for300s);
  complete(world, 'late', 'Succeeded');
  await world.silentFor(120, 'a-0');
  world.options = { ...world.options, policies: [aPolicy()] };
  await world.advance(61);
  assert.deepEqual([...world.evicted()].sort(), ['done', 'failed', 'web']);
  world.options = { ...world.options, policies: [keeping] };
  await world.advance(400);
  assert.equal(world.evicted().includes('late'), false);
});

test('a node whose only pods are kept needs no place among those that may be emptied at once', async () => {
  const policies = [aPolicy({ keepCompletedPods: true, maxConcurrentEvictions: 1 })];
  await using world = aWorld({ policies });
  world.addPod('job', 'a-1');
  complete(world, 'job', 'Succeeded');
  world.addPod('stays', 'a-0', for300s);
  await world.silentFor(120, 'a-0', 'a-1');
  for (const node of ['a-0', 'a-1'])
    assert.deepEqual(world.taints(node), ['unreachable:NoExecute', 'unreachable:NoSchedule'], node);
});
