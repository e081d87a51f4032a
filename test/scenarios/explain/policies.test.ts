// What `nlc explain` and `nlc status` say of policies and pauses.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { formatTime } from '../../../src/machinery/api/timestamps.ts';
import { describeNodeOutlook } from '../../../src/controller/report/text/describe-outlooks.ts';
import { describeStatus } from '../../../src/controller/report/text/describe-status.ts';
import { aPolicy, inZone } from '../../support/builders.ts';
import type { ControllerWorld } from '../../support/controller-world.ts';
import { explainNode, explainPod, statusOf } from '../../support/explained.ts';
import { aZonedWorld } from '../../support/zoned-world.ts';

const edge = aPolicy({ name: 'edge', nodeMonitorGracePeriodMs: 120_000 });
const lab = aPolicy({ name: 'lab', selector: inZone('b'), mode: 'Observe' });

function pageOf(world: ControllerWorld, node: string): string {
  return describeNodeOutlook(explainNode(world, node));
}

test('without policies there is no line about them', async () => {
  await using world = await aZonedWorld({ a: 3 }).running(5);
  assert.equal(explainNode(world, 'a-0').policy, null);
  assert.doesNotMatch(pageOf(world, 'a-0'), /policy/u);
  assert.doesNotMatch(describeStatus(statusOf(world)), /policy/u);
});

test('the policy of a node, and which field sets each number', async () => {
  await using world = await aZonedWorld({ a: 3, b: 3, c: 3 }, { policies: [edge, lab] }).running(5);
  assert.deepEqual(explainNode(world, 'a-0').policy, { name: 'edge', mode: 'Enforce', conflict: [] });
  assert.match(pageOf(world, 'a-0'), /grace 120s \(monitor rule, policy edge: nodeMonitorGracePeriod\)/u);
  assert.match(pageOf(world, 'a-0'), /^ {2}policy {5}edge, mode Enforce$/mu);
  assert.match(pageOf(world, 'b-0'), /grace 50s \(monitor rule, --node-monitor-grace-period\)/u, 'lab sets none');
  assert.match(pageOf(world, 'b-0'), /^ {2}policy {5}lab, mode Observe$/mu);
  assert.match(pageOf(world, 'c-0'), /^ {2}policy {5}default: no policy selects this node$/mu);
});

test('a conflict names the policies', async () => {
  await using world = await aZonedWorld({ a: 3 }, { policies: [edge, { ...edge, name: 'twin' }] }).running(5);
  assert.deepEqual(explainNode(world, 'a-0').policy, { name: null, mode: 'Enforce', conflict: ['edge', 'twin'] });
  assert.match(pageOf(world, 'a-0'), /^ {2}policy {5}default: edge and twin have equal priority/mu);
  assert.match(describeStatus(statusOf(world)), /edge: mode Enforce, applies to 0 nodes; 3 nodes are claimed equally/u);
});

test('Observe: the hold, and what would be done when', async () => {
  await using world = aZonedWorld({ a: 4, b: 4 }, { policies: [lab] }).start();
  world.addPod('pod', 'b-0');
  await world.silentFor(60, 'b-0');
  const outlook = explainNode(world, 'b-0');
  assert.equal(outlook.next.act, 'mark-unknown');
  assert.equal(outlook.next.when?.inSeconds, 0);
  assert.deepEqual(outlook.holds, [
    {
      kind: 'observed',
      policy: 'lab',
      unblockedBy: [{ kind: 'setting', setting: 'policies[lab].mode', wanted: 'Enforce' }],
    },
  ]);
  assert.equal(outlook.evictions.predicted, 1);
  const page = pageOf(world, 'b-0');
  assert.match(page, /held {7}policy lab has mode Observe: nothing is written, and what is shown here is what would/u);
  assert.match(page, /would end: policies\[lab\]\.mode set to Enforce in the config file/u);
  assert.match(page, /marking Ready=Unknown withheld \(mode Observe\): policy lab/u);
});

test('a pause until a time: the acts are expected then', async () => {
  await using world = aZonedWorld({ a: 4, b: 4 }).start();
  world.addPod('pod', 'a-0');
  world.annotatePause('a-0', formatTime(world.clock.nowMs() + 600_000));
  await world.silentFor(60, 'a-0');
  const outlook = explainNode(world, 'a-0');
  assert.equal(outlook.next.act, 'mark-unknown');
  assert.equal(Math.round(outlook.next.when?.inSeconds ?? 0), 540);
  assert.match(pageOf(world, 'a-0'), /held {7}paused by an annotation of the node: only recovery goes on/u);
  assert.match(
    pageOf(world, 'a-0'),
    /annotation nodelifecycle\/paused removed from the node, or the pause ends in about 540s/u,
  );
});

test('paused: true is a hold of every node and of the status page, and no act is expected', async () => {
  await using world = aZonedWorld({ a: 4, b: 4 });
  world.addPod('pod', 'a-0');
  world.setTaints('a-0', [{ key: 'example.com/drain', effect: 'NoExecute' }]);
  world.changeOptions({ paused: true });
  await world.running(60);
  assert.deepEqual(
    statusOf(world).holds.map(({ kind }) => kind),
    ['paused'],
  );
  assert.match(describeStatus(statusOf(world)), /paused by the config file \(paused: true\): only recovery goes on/u);
  assert.equal(explainPod(world, 'pod').eviction?.when.inSeconds, null);
  assert.equal(explainNode(world, 'b-0').next.when?.inSeconds, null);
});

test('held nodes are counted by reason, and under no other', async () => {
  await using world = aZonedWorld({ a: 8, b: 8 }, { policies: [lab] }).start();
  world.annotatePause('a-0', 'true');
  await world.silentFor(90, 'a-0', 'b-0', 'b-1');
  const held = [...world.meter.read()].filter(([key, count]) => key.includes('held_nodes') && count > 0);
  assert.deepEqual(held, [
    ['node_lifecycle_held_nodes{reason="observed"}', 2],
    ['node_lifecycle_held_nodes{reason="paused"}', 1],
  ]);
  world.recover('a-0', 'b-0', 'b-1');
  await world.advance(20);
  assert.ok([...world.meter.read()].every(([key, count]) => !key.includes('held_nodes') || count === 0));
});

const limited = aPolicy({
  name: 'pool',
  limits: { maxUnhealthy: { percent: 40, count: 3 }, cooldownMs: 120_000, resetAtMs: undefined },
});

test('an open breaker is a hold with its numbers, and no taint is expected until nodes recover', async () => {
  await using world = aZonedWorld({ a: 8, b: 8 }, { policies: [limited] }).start();
  world.addPod('pod', 'a-0', [{ operator: 'Exists', effect: 'NoExecute', tolerationSeconds: 90 }]);
  await world.silentFor(55, 'a-0');
  await world.silentFor(60, 'a-1', 'a-2', 'a-3', 'a-4');
  const held = /held {7}the breaker of policy pool is open: 5 of 8 nodes unhealthy, limit 3; /u;
  for (const node of ['a-0', 'a-1']) assert.match(pageOf(world, node), held);
  assert.match(
    pageOf(world, 'a-1'),
    /would end: 2 of the unhealthy nodes of policy pool healthy again, and then a cooldown of 120s, or policies\[pool\]\.limits\.resetAt set to the current time in the config file/u,
  );
  assert.equal(explainNode(world, 'a-1').noExecuteTaint?.when.inSeconds, null);
  assert.equal(explainPod(world, 'pod').eviction?.when.inSeconds, null);
  assert.doesNotMatch(pageOf(world, 'b-0'), /breaker/u);
  assert.match(
    describeStatus(statusOf(world)),
    /pool: mode Enforce, applies to 8 nodes; 5 of 8 nodes unhealthy, limit 3 \(40 %, at least 3\), breaker open since/u,
  );
});

test('in the cooldown the taint and the eviction are expected at its end, and other keys are not held', async () => {
  await using world = aZonedWorld({ a: 8, b: 8 }, { policies: [limited], nodeEvictionRate: 10 }).start();
  world.addPod('pod', 'a-0', [{ operator: 'Exists', effect: 'NoExecute', tolerationSeconds: 100 }]);
  await world.silentFor(55, 'a-0');
  await world.silentFor(60, 'a-1', 'a-2', 'a-3');
  world.recover('a-3');
  await world.advance(20);
  assert.match(pageOf(world, 'a-1'), /would end: the cooldown ends in about 100s/u);
  assert.equal(Math.round(explainNode(world, 'a-1').noExecuteTaint?.when.inSeconds ?? 0), 100);
  assert.equal(Math.round(explainPod(world, 'pod').eviction?.when.inSeconds ?? 0), 100);
  assert.match(describeStatus(statusOf(world)), /breaker open since .*, closes at /u);
  await world.advance(101);
  assert.doesNotMatch(pageOf(world, 'a-1'), /the breaker of policy/u);
  assert.match(describeStatus(statusOf(world)), /limit 3 \(40 %, at least 3\), breaker closed/u);
});
