import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { NodeView } from '../../../../src/machinery/api/node.ts';
import type { PolicyObject } from '../../../../src/machinery/api/node-lifecycle-policy.ts';
import { formatMicroTime } from '../../../../src/machinery/api/timestamps.ts';
import { readPolicyObject } from '../../../../src/policy/schema/policy-object-reader.ts';
import type { NodePolicy } from '../../../../src/controller/model/policy.ts';
import { PolicyObjects } from '../../../../src/policy/objects/policy-objects.ts';
import { aNodeView } from '../../../support/builders.ts';
import { FakeInformer } from '../../../support/fake-informer.ts';
import { RecordingLogger, RecordingMeter } from '../../../support/fakes.ts';
import { ManualClock } from '../../../support/manual-clock.ts';
import { aPolicyObject } from '../../../support/policy-objects.ts';

class Desk {
  readonly clock = new ManualClock();
  readonly logger = new RecordingLogger();
  readonly meter = new RecordingMeter();
  readonly informer = new FakeInformer<PolicyObject>('nodelifecyclepolicies');
  readonly adopted: (readonly string[])[] = [];
  read = readPolicyObject;
  adopting: (policies: readonly NodePolicy[]) => void = () => undefined;
  changes = 0;
  nodes: readonly NodeView[] = [];
  readonly objects: PolicyObjects;
  readonly stop = new AbortController();

  constructor() {
    this.objects = new PolicyObjects({
      informer: this.informer,
      clock: this.clock,
      logger: this.logger,
      meter: this.meter,
      nodes: () => this.nodes,
      read: (object) => this.read(object),
      adopt: (policies) => {
        this.adopting(policies);
        this.adopted.push(policies.map(({ name, mode }) => `${name} ${mode}`));
      },
      onChange: () => {
        this.changes += 1;
      },
    });
  }

  put(name: string, spec: object = {}, over: Partial<PolicyObject> = {}): void {
    this.informer.set(name, aPolicyObject(name, { ...spec }, over));
  }

  warnings(): readonly unknown[] {
    return this.logger.at('warn').map(({ fields }) => fields);
  }
}

test('a created, changed and deleted object takes effect at once; objects of one batch together', async () => {
  const desk = new Desk();
  const running = desk.objects.run(desk.stop.signal);
  desk.put('a');
  desk.put('b', { mode: 'Observe' });
  await desk.clock.advance(250);
  desk.put('a', { mode: 'Paused' }, { generation: 2 });
  await desk.clock.advance(250);
  desk.informer.delete('b');
  await desk.clock.advance(750);
  assert.deepEqual(desk.adopted, [['a Enforce', 'b Observe'], ['a Paused', 'b Observe'], ['a Paused']]);
  desk.stop.abort();
  await running;
});

test('a status that was written evaluates nothing, and changes nothing', async () => {
  const desk = new Desk();
  const running = desk.objects.run(desk.stop.signal);
  desk.put('a');
  await desk.clock.advance(250);
  desk.put('a', {}, { resourceVersion: '2', status: { nodes: 7 } });
  await desk.clock.advance(250);
  assert.deepEqual([desk.adopted, desk.changes], [[['a Enforce']], 1]);
  await desk.clock.advance(60_000);
  assert.deepEqual([desk.adopted, desk.changes], [[['a Enforce']], 2], 'evaluated again after a minute');
  desk.stop.abort();
  await running;
});

test('nothing is adopted before the first complete list', () => {
  const desk = new Desk();
  desk.put('a');
  desk.informer.hasSynced = () => false;
  desk.objects.evaluate();
  assert.deepEqual([desk.adopted, desk.objects.assessments.size], [[], 0]);
});

test('an invalid object is logged once and shown by a gauge; the other objects are in force', () => {
  const desk = new Desk();
  desk.put('a', { mode: 'On' });
  desk.put('b');
  desk.objects.evaluate();
  desk.objects.evaluate();
  const problems = ['spec.mode: must be one of Enforce, Detect, Observe, Paused (got "On")'];
  assert.deepEqual(desk.warnings(), [{ policy: 'nodelifecyclepolicy/a', generation: 1, problems, inForce: 'paused' }]);
  assert.equal(desk.meter.series.get('node_lifecycle_policy_object_accepted{policy="a"}'), 0);
  assert.equal(desk.meter.series.get('node_lifecycle_policy_object_accepted{policy="b"}'), 1);
  assert.deepEqual(desk.adopted, [['a Paused', 'b Enforce']]);
  desk.informer.delete('a');
  desk.objects.evaluate();
  desk.clock.stall(500);
  desk.objects.evaluate();
  assert.equal(desk.meter.series.has('node_lifecycle_policy_object_accepted{policy="a"}'), false);
});

test('of a spec with 1,000 long unknown fields a bounded number of problems is kept and logged, each of bounded length', () => {
  const desk = new Desk();
  const fields = Array.from({ length: 1_000 }, (_, index) => [`${'x'.repeat(1_000)}${index}`, 1]);
  desk.put('a', Object.fromEntries(fields));
  desk.objects.evaluate();
  const [line] = desk.warnings();
  assert.ok(JSON.stringify(line).length < 10_000, `${JSON.stringify(line).length} characters`);
});

test('an error while one object is read costs that object only', () => {
  const desk = new Desk();
  desk.put('a');
  desk.put('b');
  desk.read = (object) => {
    if (object.metadata.name === 'a') throw new Error('defect');
    return readPolicyObject(object);
  };
  desk.objects.evaluate();
  assert.deepEqual(desk.adopted, [['b Enforce']]);
  assert.deepEqual(desk.objects.assessments.get('a')?.problems, ['spec: cannot be read: defect']);
});

test('an object that is deleted and created again within half a second is in force all the time', async () => {
  const desk = new Desk();
  const running = desk.objects.run(desk.stop.signal);
  desk.put('a', { mode: 'Paused' });
  await desk.clock.advance(1_000);
  for (const [gapMs, round] of [
    [1, 1],
    [499, 2],
  ] as const) {
    desk.informer.delete('a');
    await desk.clock.advance(gapMs);
    desk.put('a', { mode: 'Paused' }, { uid: `another-${round}` });
    await desk.clock.advance(2_000);
  }
  desk.informer.delete('a');
  await desk.clock.advance(100);
  desk.put('a', { mode: 'Observe' }, { uid: 'last' });
  await desk.clock.advance(250);
  assert.deepEqual(desk.adopted, [['a Paused'], ['a Observe']], 'what it says now is in force at once');
  desk.stop.abort();
  await running;
});

test('a deletion is in force half a second later, also one of which no event was received', async () => {
  const desk = new Desk();
  const running = desk.objects.run(desk.stop.signal);
  desk.put('a', { mode: 'Paused' });
  await desk.clock.advance(1_000);
  desk.informer.removeUnnoticed('a');
  await desk.clock.advance(59_500);
  assert.deepEqual(desk.adopted, [['a Paused']], 'the evaluation of each minute found it');
  await desk.clock.advance(500);
  assert.deepEqual(desk.adopted, [['a Paused'], []]);
  assert.equal(desk.objects.assessments.size, 0);
  desk.stop.abort();
  await running;
});

test('a deleted policy gives way to a new one with which it would conflict, and to no other', async () => {
  const desk = new Desk();
  desk.nodes = [aNodeView({ labels: { pool: 'x' } })];
  const running = desk.objects.run(desk.stop.signal);
  const pool = { nodeSelector: { matchLabels: { pool: 'x' } } };
  desk.put('old', { ...pool, mode: 'Paused' });
  await desk.clock.advance(1_000);
  desk.informer.delete('old');
  await desk.clock.advance(10);
  desk.put('elsewhere');
  await desk.clock.advance(1_000);
  desk.informer.delete('elsewhere');
  desk.put('second', { ...pool, mode: 'Paused' });
  await desk.clock.advance(1_000);
  desk.informer.delete('second');
  await desk.clock.advance(10);
  desk.put('renamed', { ...pool, mode: 'Paused' });
  await desk.clock.advance(1_000);
  assert.deepEqual(desk.adopted, [
    ['old Paused'],
    ['elsewhere Enforce', 'old Paused'],
    ['elsewhere Enforce'],
    ['elsewhere Enforce', 'second Paused'],
    ['second Paused'],
    ['renamed Paused'],
  ]);
  desk.stop.abort();
  await running;
});

test('of several objects that are replaced one after the other none ends the grace of another', async () => {
  const desk = new Desk();
  const running = desk.objects.run(desk.stop.signal);
  desk.nodes = [aNodeView({ labels: { pool: 'x' } })];
  const spec = { nodeSelector: { matchExpressions: [{ key: 'pool', operator: 'Exists' }] }, mode: 'Paused' };
  for (const name of ['a', 'b']) desk.put(name, spec);
  await desk.clock.advance(1_000);
  for (const name of ['a', 'b']) desk.informer.delete(name);
  for (const name of ['a', 'b']) {
    await desk.clock.advance(200);
    desk.put(name, spec, { uid: `another-${name}` });
  }
  await desk.clock.advance(2_000);
  assert.deepEqual(desk.adopted, [['a Paused', 'b Paused']]);
  desk.stop.abort();
  await running;
});

test('an object that is replaced by another version ends the grace of no other with which it could conflict before', async () => {
  const desk = new Desk();
  const running = desk.objects.run(desk.stop.signal);
  desk.nodes = [aNodeView({ labels: { pool: 'x', tier: 'y' } })];
  const a = { nodeSelector: { matchLabels: { pool: 'x' } }, mode: 'Paused' };
  const b = { nodeSelector: { matchLabels: { tier: 'y' } } };
  desk.put('a', a);
  desk.put('b', b);
  await desk.clock.advance(1_000);
  for (const name of ['a', 'b']) desk.informer.delete(name);
  await desk.clock.advance(100);
  desk.put('b', { ...b, mode: 'Observe' }, { uid: 'another-b' });
  await desk.clock.advance(250);
  desk.put('a', a, { uid: 'another-a' });
  await desk.clock.advance(1_000);
  assert.deepEqual(desk.adopted, [
    ['a Paused', 'b Enforce'],
    ['a Paused', 'b Observe'],
  ]);
  desk.stop.abort();
  await running;
});

for (const { title, labels, expected } of [
  { title: 'no node matches both: it stays', labels: [{ pool: 'x' }, { tier: 'y' }], expected: 'b Enforce,a Paused' },
  { title: 'a node matches both: it gives way', labels: [{ pool: 'x', tier: 'y' }], expected: 'b Enforce' },
])
  test(`a deleted policy, and a new one with selectors of other labels: ${title}`, async () => {
    const desk = new Desk();
    desk.nodes = labels.map((each) => aNodeView({ labels: each }));
    const running = desk.objects.run(desk.stop.signal);
    desk.put('a', { nodeSelector: { matchLabels: { pool: 'x' } }, mode: 'Paused' });
    await desk.clock.advance(1_000);
    desk.informer.delete('a');
    await desk.clock.advance(50);
    desk.put('b', { nodeSelector: { matchLabels: { tier: 'y' } } });
    await desk.clock.advance(250);
    assert.deepEqual(desk.adopted.at(-1)?.toSorted(), expected.split(',').toSorted());
    await desk.clock.advance(1_000);
    assert.deepEqual(desk.adopted.at(-1), ['b Enforce']);
    desk.stop.abort();
    await running;
  });

test('an object that is deleted, created and deleted again between two evaluations has half a second from the last deletion', async () => {
  const desk = new Desk();
  const running = desk.objects.run(desk.stop.signal);
  desk.put('a', { mode: 'Paused' });
  await desk.clock.advance(1_000);
  desk.put('other');
  await desk.clock.advance(1);
  desk.informer.delete('a');
  await desk.clock.advance(100);
  desk.put('a', { mode: 'Paused' }, { uid: 'another' });
  await desk.clock.advance(99);
  desk.informer.delete('a');
  await desk.clock.advance(490);
  desk.put('a', { mode: 'Paused' }, { uid: 'third' });
  await desk.clock.advance(2_000);
  assert.deepEqual(desk.adopted, [['a Paused'], ['a Paused', 'other Enforce']]);
  desk.stop.abort();
  await running;
});

for (const { title, replace } of [
  { title: 'deleted and created again', replace: (desk: Desk) => desk.informer.delete('a') },
  { title: 'replaced as a list shows it', replace: (desk: Desk) => desk.informer.removeUnnoticed('a') },
])
  test(`an invalid object that is ${title} keeps the version that was in force, and a valid one is in force at once`, async () => {
    const desk = new Desk();
    const running = desk.objects.run(desk.stop.signal);
    desk.put('a', { mode: 'Paused' });
    await desk.clock.advance(1_000);
    replace(desk);
    desk.put('a', { mode: 'On' }, { uid: 'another' });
    await desk.clock.advance(120_000);
    assert.deepEqual(desk.adopted, [['a Paused']]);
    assert.equal(desk.objects.assessments.get('a')?.reason, 'Invalid');
    replace(desk);
    desk.put('a', { mode: 'Observe' }, { uid: 'third' });
    await desk.clock.advance(250);
    assert.deepEqual(desk.adopted, [['a Paused'], ['a Observe']]);
    desk.stop.abort();
    await running;
  });

test('a first list in which an object is missing that is being replaced is not used at once', async () => {
  const desk = new Desk();
  const settling = desk.objects.settle(desk.stop.signal);
  await desk.clock.advance(100);
  assert.deepEqual(desk.adopted, []);
  desk.put('a', { mode: 'Paused' });
  await desk.clock.advance(400);
  await settling;
  assert.deepEqual(desk.adopted, [['a Paused']]);
});

test('the annotation that resets the breaker is in force at once, and one with a time in the future when it comes', async () => {
  const desk = new Desk();
  const resets: (number | undefined)[] = [];
  desk.adopting = ([policy]) => {
    resets.push(policy?.limits?.resetAtMs);
  };
  const running = desk.objects.run(desk.stop.signal);
  const limits = { maxUnhealthy: { count: 1 } };
  desk.put('a', { limits });
  await desk.clock.advance(1_000);
  const nowMs = desk.clock.nowMs();
  desk.put('a', { limits }, { reset: formatMicroTime(nowMs) });
  await desk.clock.advance(250);
  assert.deepEqual(resets, [undefined, nowMs]);
  desk.put('a', { limits }, { reset: formatMicroTime(nowMs + 10_000) });
  await desk.clock.advance(5_000);
  assert.deepEqual(resets, [undefined, nowMs, undefined]);
  assert.match(JSON.stringify(desk.warnings()), /reset-breaker\]: must be an RFC 3339 time that is not in the future/u);
  await desk.clock.advance(6_000);
  assert.deepEqual(resets, [undefined, nowMs, undefined, nowMs + 10_000]);
  assert.equal(desk.objects.assessments.get('a')?.reset?.problem, undefined);
  desk.stop.abort();
  await running;
});

test('an adoption that failed is repeated within a minute', async () => {
  const desk = new Desk();
  const running = desk.objects.run(desk.stop.signal);
  desk.adopting = () => {
    throw new Error('defect');
  };
  desk.put('a');
  await desk.clock.advance(250);
  desk.adopting = () => undefined;
  await desk.clock.advance(60_000);
  assert.deepEqual(desk.adopted, [['a Enforce']]);
  assert.equal(desk.logger.at('error').length, 1);
  desk.stop.abort();
  await running;
});

test('what is valid with other settings is in force when the settings change, and keeps its version when they change back', () => {
  const desk = new Desk();
  let isAllowed = false;
  desk.read = (object) =>
    isAllowed ? readPolicyObject(object) : { problems: ['spec.x: must be > the setting'], guard: undefined };
  desk.put('a', { mode: 'Paused' });
  desk.objects.evaluate();
  isAllowed = true;
  desk.objects.evaluate();
  isAllowed = false;
  desk.objects.evaluate();
  assert.deepEqual(desk.adopted, [['a Paused']]);
  assert.equal(desk.objects.assessments.get('a')?.reason, 'Invalid');
});
