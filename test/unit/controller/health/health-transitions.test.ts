import assert from 'node:assert/strict';
import { test } from 'node:test';
import { describeDecision } from '../../../../src/controller/decision-log/describe-decision.ts';
import type { HealthRecord } from '../../../../src/controller/health/health-record.ts';
import type { HealthAssessment } from '../../../../src/controller/health/health-table.ts';
import { classifyBoot, HealthTransitions } from '../../../../src/controller/health/health-transitions.ts';
import { transformNode } from '../../../../src/machinery/api/node.ts';
import type { ControllerWorld } from '../../../support/controller-world.ts';
import { ManualClock } from '../../../support/manual-clock.ts';
import { RecordingMeter } from '../../../support/fakes.ts';
import { aZonedWorld, names } from '../../../support/zoned-world.ts';

const count = (world: ControllerWorld, name: string, labels: string): number =>
  world.meter.series.get(`node_lifecycle_${name}{${labels}}`) ?? 0;
const assessments = (world: ControllerWorld, assessment: string): number =>
  count(world, 'assessments_total', `assessment="${assessment}"`);
const recovered = (world: ControllerWorld): Readonly<Record<string, number>> =>
  Object.fromEntries(
    ['same', 'changed', 'unknown'].map((boot) => [boot, count(world, 'recovered_nodes_total', `boot="${boot}"`)]),
  );
const observed = (world: ControllerWorld, name: string): readonly number[] =>
  world.meter.observations.get(`node_lifecycle_${name}_latency_seconds`) ?? [];

function assertBetween(value: number | undefined, from: number, to: number): void {
  assert.ok(value !== undefined && value >= from && value <= to, `${value} is not between ${from} and ${to}`);
}

async function silentAndBack(world: ControllerWorld, node: string, bootID?: string): Promise<void> {
  await world.silentFor(70, node);
  if (bootID !== undefined) world.reboot(node, bootID);
  world.recover(node);
  await world.advance(10);
}

test('a silent node that recovers is counted by its boot ID, and recorded', async () => {
  await using world = await aZonedWorld({ a: 10 }).running(5);
  await silentAndBack(world, 'a-0');
  assert.deepEqual(recovered(world), { same: 1, changed: 0, unknown: 0 });
  await silentAndBack(world, 'a-0', 'boot-another');
  assert.deepEqual(recovered(world), { same: 1, changed: 1, unknown: 0 });
  await silentAndBack(world, 'a-0', '');
  assert.deepEqual(recovered(world), { same: 1, changed: 1, unknown: 1 });
  assert.deepEqual(world.decided('node-recovered').map(describeDecision), [
    'node a-0: no longer silent: its boot ID is unchanged, the machine did not restart',
    'node a-0: no longer silent: its boot ID changed, the machine restarted',
    'node a-0: no longer silent: no boot ID to compare, whether the machine restarted is unknown',
  ]);
  const seen = [assessments(world, 'silent'), assessments(world, 'ready'), assessments(world, 'not-ready')];
  assert.deepEqual(seen, [3, 3, 0]);
});

test('detection latency counts from the last heartbeat, taint latency from the assessment', async () => {
  await using world = await aZonedWorld({ a: 10 }).running(5);
  await world.silentFor(90, 'a-0', 'a-1');
  const [first, second, ...others] = observed(world, 'detection');
  assertBetween(first, 50, 55.1);
  assertBetween(second, 50, 55.1);
  assert.deepEqual(others, []);
  const [atOnce, inLine, ...more] = observed(world, 'taint');
  assertBetween(atOnce, 0, 0.2);
  assertBetween(inLine, 9.8, 10.3);
  assert.deepEqual(more, []);
  world.setTaints('a-0', []);
  await world.advance(60);
  assert.equal(observed(world, 'taint').length, 2, 'a taint removed by another client is not counted again');
});

test('stale time is not part of the detection latency', async () => {
  await using world = await aZonedWorld({ a: 10 }).running(20);
  world.loseContact();
  await world.silentFor(600, 'a-0');
  world.restoreContact();
  await world.advance(120);
  assert.equal(observed(world, 'detection').length, 1);
  assertBetween(observed(world, 'detection')[0], 50, 56);
});

test('Ready=False of a kubelet is an assessment of its own, and no recovery', async () => {
  await using world = await aZonedWorld({ a: 10 }).running(5);
  world.post('a-0', 'False');
  await world.advance(6);
  assert.deepEqual([assessments(world, 'not-ready'), assessments(world, 'silent')], [1, 0]);
  assertBetween(observed(world, 'taint')[0], 0, 0.2);
  await world.silentFor(70, 'a-0');
  assert.equal(assessments(world, 'silent'), 1);
  assert.equal(observed(world, 'taint').length, 1, 'one taint replaced the other');
  world.post('a-0', 'False');
  world.renewing('a-0');
  await world.advance(5);
  assert.deepEqual(recovered(world), { same: 1, changed: 0, unknown: 0 });
  assert.equal(assessments(world, 'not-ready'), 2);
  world.post('a-0', 'True');
  await world.advance(5);
  assert.deepEqual(recovered(world), { same: 1, changed: 0, unknown: 0 }, 'once for each silence');
  assert.equal(assessments(world, 'ready'), 1);
});

test('the state found by a new leader is not counted, but recoveries from it are', async () => {
  await using world = aZonedWorld({ a: 10 });
  world.post('a-1', 'False');
  await world.start().silentFor(60, 'a-0');
  const before = { silent: assessments(world, 'silent'), latencies: observed(world, 'detection').length };
  await world.restart();
  await world.advance(30);
  assert.deepEqual({ silent: assessments(world, 'silent'), latencies: observed(world, 'detection').length }, before);
  assert.equal(assessments(world, 'not-ready'), 0);
  assert.equal(observed(world, 'taint').length, 1, 'of a-0: a-1 was found so');
  world.reboot('a-0', 'boot-another');
  world.recover('a-0');
  await world.advance(5);
  assert.deepEqual(recovered(world), { same: 0, changed: 1, unknown: 0 });
});

test('a standby that saw a node silent, marked Unknown by the leader, counts no assessment of it', async () => {
  await using world = aZonedWorld({ a: 10 });
  world.post('a-0', 'Unknown');
  world.goSilent('a-0');
  // Frames arrive all the time, from healthy nodes.
  for (let second = 0; second < 120; second += 1) {
    await world.advance(1);
    world.lifecycle.stages.healthNow();
  }
  await world.running(30);
  assert.equal(assessments(world, 'silent'), 0);
  assert.deepEqual(observed(world, 'detection'), []);
});

test('an assessment that cannot be written at once counts once', async () => {
  await using world = await aZonedWorld({ a: 10 }).running(5);
  world.goSilent('a-0');
  world.failNext('patch', 'nodes', 'unavailable', 6);
  await world.advance(100);
  assert.ok(world.decided('write-failed').length >= 6);
  assert.equal(assessments(world, 'silent'), 1);
  assert.equal(observed(world, 'detection').length, 1);
});

test('a node that never posted a status has an assessment of its own', async () => {
  await using world = aZonedWorld({ a: 3 }).start();
  world.putNode({
    metadata: { name: 'new', uid: 'u-new', creationTimestamp: new Date(world.clock.nowMs()).toISOString() },
  });
  await world.advance(70);
  assert.deepEqual([assessments(world, 'never-posted'), assessments(world, 'silent')], [1, 0]);
  assertBetween(observed(world, 'detection')[0], 60, 67);
});

test('while leases cannot be read an assessment is withheld: counted once, and shown as held', async () => {
  await using world = await aZonedWorld({ a: 10 }).running(5);
  world.goSilent('a-0');
  world.permitted = false;
  await world.advance(100);
  assert.deepEqual([assessments(world, 'withheld'), assessments(world, 'silent')], [1, 0]);
  assert.equal(world.meter.read().get('node_lifecycle_held_nodes{reason="unconfirmed"}'), 1);
  world.permitted = true;
  await world.advance(6);
  assert.deepEqual([assessments(world, 'withheld'), assessments(world, 'silent')], [1, 1]);
  assert.equal(world.meter.read().get('node_lifecycle_held_nodes{reason="unconfirmed"}'), 0);
});

test('a node that is deleted while its lease is read is not held', async () => {
  await using world = await aZonedWorld({ a: 10 }).running(5);
  world.goSilent('a-0');
  world.permitted = false;
  const answer = Promise.withResolvers<void>();
  world.answersAfter = answer.promise;
  await world.advance(60);
  world.removeNode('a-0');
  await world.advance(6);
  answer.resolve();
  await world.advance(6);
  assert.equal(assessments(world, 'withheld'), 0);
  assert.equal(world.meter.read().get('node_lifecycle_held_nodes{reason="unconfirmed"}'), 0);
});

test('a deleted node is dropped: a new node of the same name is no recovery', async () => {
  await using world = await aZonedWorld({ a: 10 }).running(5);
  await world.silentFor(60, 'a-0');
  world.removeNode('a-0');
  await world.advance(1);
  world.addNode('a-0', { zone: 'a' });
  world.renewing('a-0');
  await world.advance(10);
  assert.deepEqual(recovered(world), { same: 0, changed: 0, unknown: 0 });
});

test('no state is kept for healthy nodes', async () => {
  await using world = await aZonedWorld({ a: 50 }).running(5);
  for (const name of names(20, 'a-')) world.post(name, 'False');
  await world.advance(5);
  assert.equal(world.lifecycle.stages.transitions.notReadyCount, 20);
  for (const name of names(20, 'a-')) world.post(name, 'True');
  await world.advance(5);
  assert.equal(world.lifecycle.stages.transitions.notReadyCount, 0);
});

test('the end of a full disruption alone is no recovery', () => {
  const meter = new RecordingMeter();
  const kinds: string[] = [];
  const decisions = { note: ({ kind }: { readonly kind: string }) => void kinds.push(kind) };
  const transitions = new HealthTransitions({ decisions, meter, clock: new ManualClock() });
  const node = transformNode({ metadata: { name: 'n', uid: 'u' }, status: { nodeInfo: { bootID: 'b' } } });
  const silent: HealthAssessment = {
    kind: 'silent',
    silentMs: 51_000,
    graceMs: 50_000,
    rule: 'monitor',
    conditions: [{ type: 'Ready', status: 'Unknown' }],
  };
  const alive: HealthAssessment = { kind: 'alive', silentFromMs: 0 };
  const record = (channel: HealthRecord['channel']): HealthRecord => ({
    uid: 'u',
    heartbeatAtMs: 0,
    channel,
    readyChangedAtMs: 0,
    readyHeartbeat: undefined,
    readyTransition: undefined,
    hasReady: true,
    lease: undefined,
    heartbeatSinceUnknown: false,
    intervalsMs: [],
  });
  transitions.conclude(node, { assessment: silent, ready: 'Unknown', isNew: false, record: record('lease') });
  transitions.conclude(node, { assessment: alive, ready: 'True', isNew: false, record: record('full-disruption-end') });
  assert.deepEqual(kinds, []);
  transitions.conclude(node, { assessment: silent, ready: 'Unknown', isNew: false, record: record('lease') });
  transitions.conclude(node, { assessment: alive, ready: 'True', isNew: false, record: record('lease') });
  assert.deepEqual(kinds, ['node-recovered']);
});

test('two boot IDs are compared, and an empty one is no evidence', () => {
  assert.equal(classifyBoot('a', 'a'), 'same');
  assert.equal(classifyBoot('a', 'b'), 'changed');
  assert.equal(classifyBoot('', 'b'), 'unknown');
  assert.equal(classifyBoot('a', ''), 'unknown');
  assert.equal(classifyBoot('', ''), 'unknown');
});
