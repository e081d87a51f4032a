import assert from 'node:assert/strict';
import { test } from 'node:test';
import { describeDecision } from '../../../../src/controller/describe-decision.ts';
import type { HealthRecord } from '../../../../src/controller/health/health-record.ts';
import type { HealthVerdict } from '../../../../src/controller/health/health-table.ts';
import { deriveBootEvidence } from '../../../../src/controller/health/derive-boot-evidence.ts';
import { VerdictBook } from '../../../../src/controller/health/verdict-book.ts';
import { viewNode } from '../../../../src/api/node.ts';
import type { ControllerWorld } from '../../../support/controller-world.ts';
import { ManualClock } from '../../../support/manual-clock.ts';
import { KeepingMeter } from '../../../support/quiet.ts';
import { aZonedWorld, names } from '../../../support/zoned-world.ts';

const count = (world: ControllerWorld, name: string, labels: string): number =>
  world.meter.series.get(`node_lifecycle_${name}{${labels}}`) ?? 0;
const verdicts = (world: ControllerWorld, verdict: string): number =>
  count(world, 'verdicts_total', `verdict="${verdict}"`);
const recovered = (world: ControllerWorld): Readonly<Record<string, number>> =>
  Object.fromEntries(
    ['same', 'changed', 'unknown'].map((boot) => [boot, count(world, 'recovered_nodes_total', `boot="${boot}"`)]),
  );
const observed = (world: ControllerWorld, name: string): readonly number[] =>
  world.meter.observations.get(`node_lifecycle_${name}_latency_seconds`) ?? [];

function assertBetween(value: number | undefined, from: number, to: number): void {
  assert.ok(value !== undefined && value >= from && value <= to, `${value} is not between ${from} and ${to}`);
}

async function darkAndBack(world: ControllerWorld, node: string, bootID?: string): Promise<void> {
  world.goDark(node);
  await world.advance(70);
  if (bootID !== undefined) world.reboot(node, bootID);
  world.post(node, 'True');
  world.renewing(node);
  await world.advance(10);
}

test('a node that was silent and comes back is counted by its boot ID, and it is said', async () => {
  const world = aZonedWorld({ a: 10 });
  world.start();
  await world.advance(5);
  await darkAndBack(world, 'a-0');
  assert.deepEqual(recovered(world), { same: 1, changed: 0, unknown: 0 });
  await darkAndBack(world, 'a-0', 'boot-another');
  assert.deepEqual(recovered(world), { same: 1, changed: 1, unknown: 0 });
  await darkAndBack(world, 'a-0', '');
  assert.deepEqual(recovered(world), { same: 1, changed: 1, unknown: 1 });
  assert.deepEqual(
    world.decisions
      .filter(({ decision }) => decision.kind === 'node-recovered')
      .map(({ decision }) => describeDecision(decision)),
    [
      'node a-0 is no longer silent: its boot ID is the one it had, so it had never been down',
      'node a-0 is no longer silent: it has another boot ID, so it was restarted',
      'node a-0 is no longer silent: whether it was restarted is not known, for want of a boot ID',
    ],
  );
  assert.deepEqual([verdicts(world, 'silent'), verdicts(world, 'ready'), verdicts(world, 'not-ready')], [3, 3, 0]);
  await world.stop();
});

test('detection is timed from the last sign of life, tainting from the verdict', async () => {
  const world = aZonedWorld({ a: 10 });
  world.start();
  await world.advance(5);
  world.goDark('a-0', 'a-1');
  await world.advance(90);
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
  assert.equal(observed(world, 'taint').length, 2, 'a taint that somebody took away is nothing new');
  await world.stop();
});

test('time in which we were blind is not in the time of detection', async () => {
  const world = aZonedWorld({ a: 10 });
  world.start();
  await world.advance(20);
  const frozenAtMs = world.clock.monotonicMs();
  world.leases.lastFrameAtMs = () => frozenAtMs;
  world.answering = false;
  world.goDark('a-0');
  await world.advance(600);
  world.leases.lastFrameAtMs = () => world.clock.monotonicMs();
  world.answering = true;
  await world.advance(120);
  assert.equal(observed(world, 'detection').length, 1);
  assertBetween(observed(world, 'detection')[0], 50, 56);
  await world.stop();
});

test('a kubelet that says so itself is another verdict, and nobody came back from it', async () => {
  const world = aZonedWorld({ a: 10 });
  world.start();
  await world.advance(5);
  world.post('a-0', 'False');
  await world.advance(6);
  assert.deepEqual([verdicts(world, 'not-ready'), verdicts(world, 'silent')], [1, 0]);
  assertBetween(observed(world, 'taint')[0], 0, 0.2);
  world.goDark('a-0');
  await world.advance(70);
  assert.equal(verdicts(world, 'silent'), 1);
  assert.equal(observed(world, 'taint').length, 1, 'one taint was swapped for the other');
  world.post('a-0', 'False');
  world.renewing('a-0');
  await world.advance(5);
  assert.deepEqual(recovered(world), { same: 1, changed: 0, unknown: 0 });
  assert.equal(verdicts(world, 'not-ready'), 2);
  world.post('a-0', 'True');
  await world.advance(5);
  assert.deepEqual(recovered(world), { same: 1, changed: 0, unknown: 0 }, 'once for each silence');
  assert.equal(verdicts(world, 'ready'), 1);
  await world.stop();
});

test('what a new leader finds is no verdict of its own, but it knows who came back', async () => {
  const world = aZonedWorld({ a: 10 });
  world.post('a-1', 'False');
  world.start();
  world.goDark('a-0');
  await world.advance(60);
  const before = { silent: verdicts(world, 'silent'), latencies: observed(world, 'detection').length };
  await world.restart();
  await world.advance(30);
  assert.deepEqual({ silent: verdicts(world, 'silent'), latencies: observed(world, 'detection').length }, before);
  assert.equal(verdicts(world, 'not-ready'), 0);
  assert.equal(observed(world, 'taint').length, 1, 'of a-0: a-1 was found so');
  world.reboot('a-0', 'boot-another');
  world.post('a-0', 'True');
  world.renewing('a-0');
  await world.advance(5);
  assert.deepEqual(recovered(world), { same: 0, changed: 1, unknown: 0 });
  await world.stop();
});

test('a standby that saw a node silent for long, and called so by the leader, has no verdict of its own on it', async () => {
  const world = aZonedWorld({ a: 10 });
  world.post('a-0', 'Unknown');
  world.goDark('a-0');
  // Frames come all the time, from nodes that are well.
  for (let second = 0; second < 120; second += 1) {
    await world.advance(1);
    world.lifecycle.stages.healthNow();
  }
  world.start();
  await world.advance(30);
  assert.equal(verdicts(world, 'silent'), 0);
  assert.deepEqual(observed(world, 'detection'), []);
  await world.stop();
});

test('a verdict that cannot be written at once is one verdict', async () => {
  const world = aZonedWorld({ a: 10 });
  world.start();
  await world.advance(5);
  world.goDark('a-0');
  world.failNext('patch', 'nodes', 'unavailable', 6);
  await world.advance(100);
  assert.ok(world.kinds().filter((kind) => kind === 'write-failed').length >= 6);
  assert.equal(verdicts(world, 'silent'), 1);
  assert.equal(observed(world, 'detection').length, 1);
  await world.stop();
});

test('a node that never posted a status is a verdict of its own', async () => {
  const world = aZonedWorld({ a: 3 });
  world.start();
  world.putNode({
    metadata: { name: 'mute', uid: 'u-mute', creationTimestamp: new Date(world.clock.nowMs()).toISOString() },
  });
  await world.advance(70);
  assert.deepEqual([verdicts(world, 'never-posted'), verdicts(world, 'silent')], [1, 0]);
  assertBetween(observed(world, 'detection')[0], 60, 67);
  await world.stop();
});

test('while the API server cannot be asked a verdict is withheld: counted once, and shown as held', async () => {
  const world = aZonedWorld({ a: 10 });
  world.start();
  await world.advance(5);
  world.goDark('a-0');
  world.permitted = false;
  await world.advance(120);
  assert.deepEqual([verdicts(world, 'withheld'), verdicts(world, 'silent')], [1, 0]);
  assert.equal(world.meter.read().get('node_lifecycle_held_nodes{reason="unconfirmed"}'), 1);
  world.permitted = true;
  await world.advance(6);
  assert.deepEqual([verdicts(world, 'withheld'), verdicts(world, 'silent')], [1, 1]);
  assert.equal(world.meter.read().get('node_lifecycle_held_nodes{reason="unconfirmed"}'), 0);
  await world.stop();
});

test('a node that is deleted while the API server is asked about it is not held', async () => {
  const world = aZonedWorld({ a: 10 });
  world.start();
  await world.advance(5);
  world.goDark('a-0');
  world.permitted = false;
  const answer = Promise.withResolvers<void>();
  world.answersAfter = answer.promise;
  await world.advance(60);
  world.removeNode('a-0');
  await world.advance(6);
  answer.resolve();
  await world.advance(6);
  assert.equal(verdicts(world, 'withheld'), 1);
  assert.equal(world.meter.read().get('node_lifecycle_held_nodes{reason="unconfirmed"}'), 0);
  await world.stop();
});

test('a node that is deleted is forgotten: its namesake has not come back', async () => {
  const world = aZonedWorld({ a: 10 });
  world.start();
  await world.advance(5);
  world.goDark('a-0');
  await world.advance(60);
  world.removeNode('a-0');
  await world.advance(1);
  world.addNode('a-0', { zone: 'a' });
  world.renewing('a-0');
  await world.advance(10);
  assert.deepEqual(recovered(world), { same: 0, changed: 0, unknown: 0 });
  await world.stop();
});

test('nothing is remembered of nodes that are well', async () => {
  const world = aZonedWorld({ a: 50 });
  world.start();
  await world.advance(5);
  for (const name of names(20, 'a-')) world.post(name, 'False');
  await world.advance(5);
  assert.equal(world.lifecycle.stages.verdicts.unwell, 20);
  for (const name of names(20, 'a-')) world.post(name, 'True');
  await world.advance(5);
  assert.equal(world.lifecycle.stages.verdicts.unwell, 0);
  await world.stop();
});

test('that an outage ended brings nobody back by itself', () => {
  const meter = new KeepingMeter();
  const kinds: string[] = [];
  const decisions = { note: ({ kind }: { readonly kind: string }) => void kinds.push(kind) };
  const book = new VerdictBook({ decisions, meter, clock: new ManualClock() });
  const node = viewNode({ metadata: { name: 'n', uid: 'u' }, status: { nodeInfo: { bootID: 'b' } } });
  const silent: HealthVerdict = {
    kind: 'silent',
    silentMs: 51_000,
    graceMs: 50_000,
    rule: 'monitor',
    conditions: [{ type: 'Ready', status: 'Unknown' }],
  };
  const alive: HealthVerdict = { kind: 'alive', silentFromMs: 0 };
  const record = (channel: HealthRecord['channel']): HealthRecord => ({
    uid: 'u',
    heardAtMs: 0,
    channel,
    readyChangedAtMs: 0,
    readyHeartbeat: undefined,
    readyTransition: undefined,
    hasReady: true,
    lease: undefined,
    heardSinceUnknown: false,
  });
  book.conclude(node, { verdict: silent, ready: 'Unknown', isNew: false, record: record('lease') });
  book.conclude(node, { verdict: alive, ready: 'True', isNew: false, record: record('outage-end') });
  assert.deepEqual(kinds, []);
  book.conclude(node, { verdict: silent, ready: 'Unknown', isNew: false, record: record('lease') });
  book.conclude(node, { verdict: alive, ready: 'True', isNew: false, record: record('lease') });
  assert.deepEqual(kinds, ['node-recovered']);
});

test('two boot IDs are compared, and an empty one says nothing', () => {
  assert.equal(deriveBootEvidence('a', 'a'), 'same');
  assert.equal(deriveBootEvidence('a', 'b'), 'changed');
  assert.equal(deriveBootEvidence('', 'b'), 'unknown');
  assert.equal(deriveBootEvidence('a', ''), 'unknown');
  assert.equal(deriveBootEvidence('', ''), 'unknown');
});
