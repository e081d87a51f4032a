// What the pages of nodes and pods name as holds.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { decodePolicies } from '../../../src/policy/schema/decode-policies.ts';
import { aPolicy } from '../../support/builders.ts';
import { explainNode, explainPod } from '../../support/explained.ts';
import { aZonedWorld } from '../../support/zoned-world.ts';

test('the reason why a silence is not confirmed is shown whatever else happens to the node', async () => {
  const nodeSelector = { matchLabels: { 'topology.kubernetes.io/zone': 'a' } };
  const maintenance = { conditions: ['Maintenance'], maxDuration: '10m' };
  const policies = decodePolicies([{ name: 'edge', nodeSelector, maintenance }]);
  await using world = aZonedWorld({ a: 6 }, { policies });
  await world.running(15);
  world.permitted = false;
  await world.silentFor(56, 'a-0');
  const unconfirmed = (): unknown =>
    explainNode(world, 'a-0').holds.find(({ kind }) => kind === 'unconfirmed')?.unblockedBy;
  const permission = [{ kind: 'permission', needed: 'get and list of leases in kube-node-lease' }];
  assert.deepEqual(unconfirmed(), permission);
  world.setCondition('a-0', 'Maintenance', 'True');
  await world.advance(1);
  assert.match(explainNode(world, 'a-0').history.at(-1)?.text ?? '', /maintenance/);
  assert.deepEqual(unconfirmed(), permission);
});

test('while watches are stale, a late cache holds only pods whose deletion is scheduled', async () => {
  await using world = aZonedWorld({ a: 6 });
  const tolerations = [{ operator: 'Exists', effect: 'NoExecute', tolerationSeconds: 300 }];
  world.addPod('staying', 'a-1', tolerations);
  world.addPod('leaving', 'a-0', tolerations);
  await world.running(15);
  await world.silentFor(65, 'a-0');
  world.loseContact();
  await world.advance(60);
  const kinds = (pod: string): readonly string[] => explainPod(world, pod).holds.map(({ kind }) => kind);
  assert.deepEqual(kinds('staying'), ['stale']);
  assert.deepEqual(kinds('leaving'), ['stale', 'late-cache']);
});

test('of pods that wait for the hour of their policy none is promised the next place', async () => {
  const policies = [aPolicy({ maxEvictionsPerHour: 1 })];
  await using world = aZonedWorld({ a: 6 }, { policies });
  const pods = ['one', 'two', 'three'];
  for (const pod of pods) world.addPod(pod, 'a-0');
  await world.running(1);
  world.post('a-0', 'False');
  await world.advance(60);
  const waiting = pods.filter((pod) => !world.evicted().includes(pod)).map((pod) => explainPod(world, pod));
  assert.deepEqual(
    waiting.map(({ eviction }) => eviction?.when.inSeconds),
    [null, null],
  );
  const [hold] = waiting[0]?.holds ?? [];
  assert.deepEqual([hold?.kind, hold?.unblockedBy[0]?.kind], ['hourly-limit', 'ends']);
});
