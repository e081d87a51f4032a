import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ApiError } from '../../../../src/machinery/api/api-error.ts';
import { type PolicyObject, transformPolicyObject } from '../../../../src/machinery/api/node-lifecycle-policy.ts';
import { mergeDocuments } from '../../../../src/hollow-cluster/apiserver/patch/object-patch.ts';
import { readPolicyObject } from '../../../../src/policy/schema/policy-object-reader.ts';
import type { PolicyFigures } from '../../../../src/controller/model/policy.ts';
import {
  decidePoliciesInForce,
  type PolicyAssessments,
} from '../../../../src/policy/objects/decide-policies-in-force.ts';
import { PolicyStatusWriter } from '../../../../src/policy/objects/policy-status-writer.ts';
import { FakeInformer } from '../../../support/fake-informer.ts';
import { RecordingLogger, RecordingMeter, RecordingRecorder } from '../../../support/fakes.ts';
import { ManualClock } from '../../../support/manual-clock.ts';
import { aPolicyObject } from '../../../support/policy-objects.ts';

interface Patch {
  readonly name: string;
  readonly resourceVersion: string;
  readonly status: Readonly<Record<string, unknown>>;
}

/** A writer and an API server with a merge of statuses; the informer follows it unless it is frozen. */
class Desk {
  readonly clock = new ManualClock();
  readonly logger = new RecordingLogger();
  readonly meter = new RecordingMeter();
  readonly recorder = new RecordingRecorder();
  readonly informer = new FakeInformer<PolicyObject>('nodelifecyclepolicies');
  readonly patches: Patch[] = [];
  readonly stop = new AbortController();
  readonly writer: PolicyStatusWriter;
  frozen = false;
  leading = true;
  failWith: ApiError | undefined;
  figures: Partial<PolicyFigures> = { nodes: 3 };
  /** Of one count. */
  steps = 0;
  stepMs = 0;
  #version = 10;
  #assessments: PolicyAssessments = new Map();
  #running: Promise<void> | undefined;

  constructor() {
    this.writer = new PolicyStatusWriter({
      api: {
        patch: async (_resource, { name }, { body }, { stillWanted, subresource }) => {
          assert.equal(subresource, 'status');
          await Promise.resolve();
          if (stillWanted?.() === false) throw new ApiError({ reason: 'aborted', message: 'not wanted' });
          if (this.failWith !== undefined) throw this.failWith;
          return this.#merge(name, body);
        },
      },
      leadership: { holds: () => this.leading },
      recorder: this.recorder,
      store: this.informer,
      assessments: () => this.#assessments,
      figures: () => this.#count(),
      clock: this.clock,
      logger: this.logger,
      meter: this.meter,
    });
  }

  put(name: string, spec: object = {}, over: Partial<PolicyObject> = {}): void {
    const resourceVersion = String((this.#version += 1));
    this.informer.set(
      name,
      aPolicyObject(name, { ...spec }, { status: this.informer.get(name)?.status ?? {}, ...over, resourceVersion }),
    );
    this.evaluate();
  }

  evaluate(): void {
    this.#assessments = decidePoliciesInForce(
      this.informer.values(),
      this.#assessments,
      readPolicyObject,
      this.clock.nowMs(),
    );
    this.writer.wakeUp();
  }

  async advance(ms: number): Promise<void> {
    this.#running ??= this.writer.run(this.stop.signal);
    await this.clock.advance(ms);
  }

  async end(): Promise<void> {
    this.stop.abort();
    await this.#running;
  }

  *#count(): Generator<undefined, ReadonlyMap<string, PolicyFigures>> {
    for (let step = 0; step < this.steps; step += 1) {
      this.clock.stall(this.stepMs);
      yield;
    }
    return new Map([...this.#assessments.keys()].map((policy) => [policy, this.#figuresOf(policy)]));
  }

  #figuresOf(policy: string): PolicyFigures {
    return {
      policy,
      mode: 'Enforce',
      nodes: 0,
      conflicts: 0,
      unhealthy: 0,
      held: 0,
      pendingEvictions: 0,
      ...this.figures,
    };
  }

  #merge(name: string, body: unknown): ReturnType<ConstructorParameters<typeof PolicyStatusWriter>[0]['api']['patch']> {
    const { metadata, status } = body as { metadata: { resourceVersion: string }; status: Patch['status'] };
    const object = this.informer.get(name);
    assert.ok(object);
    this.patches.push({ name, resourceVersion: metadata.resourceVersion, status });
    const merged = mergeDocuments(object.status, status) as PolicyObject['status'];
    const after = { ...object, status: merged, resourceVersion: String((this.#version += 1)) };
    if (!this.frozen) this.informer.set(name, after);
    return Promise.resolve({ metadata: { name, uid: object.uid, resourceVersion: after.resourceVersion } });
  }
}

test('the status is written once with the version that was read, and again only when it changes', async () => {
  const desk = new Desk();
  desk.put('a');
  await desk.advance(60_000);
  assert.deepEqual(
    desk.patches.map(({ name, resourceVersion, status }) => [name, resourceVersion, status['nodes']]),
    [['a', '11', 3]],
  );
  desk.figures = { nodes: 4 };
  await desk.advance(60_000);
  assert.deepEqual([desk.patches.length, desk.patches[1]?.status['nodes']], [2, 4]);
  await desk.end();
});

test('counting is done in slices, and a new assessment does not wait for it', async () => {
  const desk = new Desk();
  desk.put('a', {}, { status: { nodes: 5, breaker: 'Closed' } });
  [desk.steps, desk.stepMs] = [100, 5];
  await desk.advance(10);
  const [first] = desk.patches;
  assert.deepEqual([first?.status['mode'], first?.status['nodes'], first?.status['breaker']], ['Enforce', 5, 'Closed']);
  await desk.advance(50_000);
  assert.equal(desk.patches.length, 1, 'half a percent of the time');
  await desk.advance(80_000);
  assert.deepEqual([desk.patches.length, desk.patches[1]?.status['nodes']], [2, 3]);
  await desk.end();
});

test('counts that change all the time are written every five seconds', async () => {
  const desk = new Desk();
  desk.put('a');
  await desk.advance(1_000);
  for (let second = 0; second < 30; second += 1) {
    desk.figures = { nodes: second };
    await desk.advance(1_000);
  }
  assert.ok(desk.patches.length >= 4 && desk.patches.length <= 8, String(desk.patches.length));
  await desk.end();
});

test('of very many objects each is written, whatever the others change', async () => {
  const desk = new Desk();
  for (let place = 0; place < 60; place += 1) desk.put(`p${place}`);
  for (let round = 0; round < 5; round += 1) {
    desk.figures = { nodes: round };
    await desk.advance(6_000);
  }
  assert.equal(new Set(desk.patches.map(({ name }) => name)).size, 60);
  await desk.end();
});

test('a new assessment is written within a second', async () => {
  const desk = new Desk();
  desk.put('a');
  await desk.advance(2_000);
  desk.put('a', { mode: 'On' }, { generation: 2 });
  await desk.advance(1_000);
  assert.partialDeepStrictEqual(desk.patches.at(-1)?.status['conditions'], [{ type: 'Accepted', status: 'False' }]);
  await desk.end();
});

test('a write that the informer has not delivered is known, and the next one continues from its version', async () => {
  const desk = new Desk();
  desk.put('a');
  desk.frozen = true;
  await desk.advance(30_000);
  assert.equal(desk.patches.length, 1);
  desk.figures = { nodes: 9 };
  await desk.advance(6_000);
  assert.deepEqual(
    desk.patches.map(({ resourceVersion }) => resourceVersion),
    ['11', '12'],
  );
  await desk.end();
});

test('a field that has no value any more is removed', async () => {
  const desk = new Desk();
  desk.put('a', {}, { status: { breaker: 'Open', older: 7 } });
  await desk.advance(1_000);
  assert.deepEqual(
    [desk.patches[0]?.status['breaker'], desk.patches[0]?.status['older'], desk.informer.get('a')?.status['breaker']],
    [null, null, undefined],
  );
  await desk.end();
});

test('nothing is sent without leadership, and that is no failure', async () => {
  const desk = new Desk();
  desk.leading = false;
  desk.put('a');
  await desk.advance(20_000);
  assert.deepEqual(desk.patches, []);
  assert.deepEqual(desk.logger.at('warn'), []);
  await desk.end();
});

test('a version that is not evaluated yet has no status', async () => {
  const desk = new Desk();
  desk.put('a');
  await desk.advance(1_000);
  desk.informer.set('a', { ...aPolicyObject('a', { mode: 'Paused' }), generation: 2, resourceVersion: '99' });
  desk.figures = { nodes: 8 };
  await desk.advance(20_000);
  assert.equal(desk.patches.length, 1);
  desk.evaluate();
  await desk.advance(1_000);
  assert.equal(desk.patches.length, 2);
  await desk.end();
});

test('a failure is logged once for each reason, counted, and made good at a later pass', async () => {
  const desk = new Desk();
  desk.failWith = new ApiError({ reason: 'forbidden', message: 'no' });
  desk.put('a');
  await desk.advance(30_000);
  assert.equal(desk.logger.at('warn').length, 1);
  assert.ok((desk.meter.series.get('node_lifecycle_policy_status_writes_total{result="forbidden"}') ?? 0) > 2);
  desk.failWith = undefined;
  await desk.advance(60_000);
  assert.equal(desk.meter.series.get('node_lifecycle_policy_status_writes_total{result="written"}'), 1);
  await desk.end();
});

for (const reason of ['forbidden', 'conflict'] as const)
  test(`failures without end (${reason}) are few, and a new version of the object is written at once`, async () => {
    const desk = new Desk();
    desk.failWith = new ApiError({ reason, message: 'no' });
    for (let place = 0; place < 30; place += 1) desk.put(`a${place}`);
    await desk.advance(3_600_000);
    const failed = desk.meter.series.get(`node_lifecycle_policy_status_writes_total{result="${reason}"}`) ?? 0;
    assert.ok(failed > 30 * 30 && failed < 30 * 70, `${failed}`);
    desk.failWith = undefined;
    desk.put('a7', { mode: 'Paused' }, { generation: 2 });
    await desk.advance(1_000);
    assert.deepEqual(
      desk.patches.map(({ name }) => name),
      ['a7'],
    );
    await desk.end();
  });

test('one Event for each version that is not accepted, and none that the leader before has recorded', async () => {
  const desk = new Desk();
  desk.put('a', { mode: 'On' });
  await desk.advance(60_000);
  desk.put('a', { mode: 'Off' }, { generation: 2 });
  await desk.advance(60_000);
  assert.deepEqual(
    desk.recorder.drafts.map(({ reason, about, type }) => [reason, about.kind, about.name, type]),
    [
      ['PolicyNotAccepted', 'NodeLifecyclePolicy', 'a', 'Warning'],
      ['PolicyNotAccepted', 'NodeLifecyclePolicy', 'a', 'Warning'],
    ],
  );
  await desk.end();
  const next = new Desk();
  next.put('a', { mode: 'Off' }, { generation: 2, status: desk.informer.get('a')?.status ?? {} });
  await next.advance(60_000);
  assert.deepEqual([next.recorder.drafts, next.patches], [[], []]);
  await next.end();
});

test('one Event for each value of the annotation that resets no breaker, and none that the leader before has recorded', async () => {
  const desk = new Desk();
  const limits = { maxUnhealthy: { count: 1 } };
  for (const reset of ['now', 'now', '2026-11-23T18:00:00', '']) {
    desk.put('a', { limits }, { reset });
    await desk.advance(60_000);
  }
  assert.deepEqual(
    desk.recorder.drafts.map(({ reason, about, message }) => [reason, about.name, /got "(.*)"/u.exec(message)?.[1]]),
    [
      ['InvalidResetAnnotation', 'a', 'now'],
      ['InvalidResetAnnotation', 'a', '2026-11-23T18:00:00'],
    ],
  );
  desk.put('a', { limits }, { reset: 'later' });
  await desk.advance(60_000);
  await desk.end();
  const next = new Desk();
  next.put('a', { limits }, { reset: 'later', status: desk.informer.get('a')?.status ?? {} });
  await next.advance(60_000);
  assert.deepEqual([next.recorder.drafts, next.patches], [[], []]);
  await next.end();
});

test('an object that was deleted is forgotten', async () => {
  const desk = new Desk();
  desk.put('a', { mode: 'On' });
  await desk.advance(1_000);
  desk.informer.delete('a');
  desk.evaluate();
  await desk.advance(10_000);
  desk.put('a', { mode: 'On' });
  await desk.advance(1_000);
  assert.equal(desk.recorder.drafts.length, 2, 'another object of this name, with the uid of the first');
  await desk.end();
});

test('an object is read as it is, and a malformed status counts as empty', () => {
  const raw = { metadata: { name: 'a', uid: 'u', generation: 3 }, spec: 7, status: [] };
  assert.deepEqual(transformPolicyObject(raw), {
    name: 'a',
    uid: 'u',
    resourceVersion: '',
    generation: 3,
    createdAt: '',
    spec: 7,
    status: {},
  });
  const annotations = { 'nodelifecycle/reset-breaker': '2026-11-24T11:00:00Z', other: 'x' };
  const annotated = transformPolicyObject({ metadata: { name: 'a', annotations } });
  assert.equal(annotated.reset, '2026-11-24T11:00:00Z');
});
