// Policies that are objects of the API: they take effect like those of the config file, and a broken or missing object
// neither evicts what a policy protects nor stops the controller.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { PolicyObject } from '../../../src/machinery/api/node-lifecycle-policy.ts';
import { formatTime } from '../../../src/machinery/api/timestamps.ts';
import { readPolicyObject } from '../../../src/policy/schema/policy-object-reader.ts';
import { describeNodeOutlook } from '../../../src/controller/report/text/describe-outlooks.ts';
import { countPolicyFigures } from '../../../src/controller/report/policy-figures.ts';
import { PolicyObjects } from '../../../src/policy/objects/policy-objects.ts';
import type { ControllerWorld } from '../../support/controller-world.ts';
import { explainNode } from '../../support/explained.ts';
import { FakeInformer } from '../../support/fake-informer.ts';
import { aPolicyObject } from '../../support/policy-objects.ts';
import { aZonedWorld } from '../../support/zoned-world.ts';

/** The nodes of zone a. */
const nodeSelector = { matchLabels: { 'topology.kubernetes.io/zone': 'a' } };

/** A world whose policies are the objects of an informer. */
class ObjectStand {
  readonly informer = new FakeInformer<PolicyObject>('nodelifecyclepolicies');
  readonly objects: PolicyObjects;
  readonly world: ControllerWorld;
  readonly #stop = new AbortController();
  readonly #running: Promise<void>;
  #generation = 0;

  constructor(world: ControllerWorld) {
    this.world = world;
    this.objects = new PolicyObjects({
      informer: this.informer,
      clock: world.clock,
      logger: world.logger,
      meter: world.meter,
      nodes: () => world.nodes.store.values(),
      read: readPolicyObject,
      adopt: (policies) => world.changeOptions({ policies }),
      onChange: () => undefined,
    });
    this.#running = this.objects.run(this.#stop.signal);
  }

  put(spec: object, over: Partial<PolicyObject> = {}): void {
    this.#generation += 1;
    const object = { generation: this.#generation, ...over };
    this.informer.set('zone-a', aPolicyObject('zone-a', { nodeSelector, ...spec }, object));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort();
    await this.world.stop();
    await this.#running;
  }
}

function aStand(): ObjectStand {
  const world = aZonedWorld({ a: 4, b: 4 }, { policySource: 'crd' });
  world.addPod('pod-a-0', 'a-0');
  world.start();
  return new ObjectStand(world);
}

test('a policy that is created, changed and deleted takes effect within a second, and nothing is done twice', async () => {
  await using stand = aStand();
  const { world } = stand;
  await world.advance(5);
  stand.put({ mode: 'Paused' });
  await world.silentFor(300, 'a-0');
  assert.deepEqual([world.writes, world.evicted()], [[], []]);
  stand.put({ nodeMonitorGracePeriod: '10m' });
  await world.advance(200);
  assert.deepEqual(world.writes, [], 'the longer grace period applies to the silence that has lasted');
  stand.put({ nodeMonitorGracePeriod: '2m' });
  await world.advance(1);
  assert.equal(world.ready('a-0'), 'Unknown');
  assert.deepEqual(world.evicted(), ['pod-a-0']);
  stand.informer.delete('zone-a');
  await world.silentFor(60, 'a-1');
  assert.equal(world.ready('a-1'), 'Unknown', 'the default applies again');
  assert.deepEqual(world.evicted(), ['pod-a-0']);
});

for (const mode of ['Paused', 'Observe'])
  test(`mode ${mode}: an object that is replaced (deleted, and created a moment later) lets nothing through`, async () => {
    await using stand = aStand();
    const { world } = stand;
    await world.advance(5);
    stand.put({ mode });
    await world.silentFor(300, 'a-0');
    stand.informer.delete('zone-a');
    await world.advance(0.3);
    stand.put({ mode }, { uid: 'another' });
    await world.advance(120);
    assert.deepEqual([world.writes, world.evicted()], [[], []]);
    stand.informer.delete('zone-a');
    await world.advance(1);
    assert.equal(world.ready('a-0'), 'Unknown', 'a deletion is in force within a second');
    assert.deepEqual(world.evicted(), ['pod-a-0']);
  });

test('a policy that is replaced by an invalid one holds what it held before', async () => {
  await using stand = aStand();
  const { world } = stand;
  await world.advance(5);
  stand.put({ mode: 'Paused' });
  await world.silentFor(100, 'a-0');
  stand.informer.delete('zone-a');
  await world.advance(0.3);
  stand.put({ mode: 'pause' }, { uid: 'another' });
  await world.advance(300);
  assert.deepEqual([world.writes, world.evicted()], [[], []]);
});

test('a new policy for other nodes, created while one is replaced, lets nothing through', async () => {
  await using stand = aStand();
  const { world } = stand;
  await world.advance(5);
  stand.put({ mode: 'Paused' });
  await world.silentFor(300, 'a-0');
  stand.informer.delete('zone-a');
  await world.advance(0.05);
  const ofPool = { nodeSelector: { matchLabels: { pool: 'x' } }, mode: 'Observe' };
  stand.informer.set('pool-x', aPolicyObject('pool-x', ofPool));
  await world.advance(0.4);
  stand.put({ mode: 'Paused' }, { uid: 'another' });
  await world.advance(120);
  assert.deepEqual([world.writes, world.evicted()], [[], []]);
});

test('the annotation of the object resets the breaker within a second, and one that is malformed does not', async () => {
  await using stand = aStand();
  const { world } = stand;
  const limits = { maxUnhealthy: { count: 1 } };
  stand.put({ limits });
  await world.advance(5);
  await world.silentFor(60, 'a-0', 'a-1');
  assert.deepEqual([world.evicted(), world.decided('breaker-opened').length], [[], 1]);
  stand.put({ limits }, { generation: 1, reset: 'now' });
  await world.advance(60);
  assert.deepEqual([world.evicted(), world.decided('breaker-closed')], [[], []]);
  const page = describeNodeOutlook(explainNode(world, 'a-0'));
  assert.match(
    page,
    /or metadata\.annotations\[nodelifecycle\/reset-breaker\] of nodelifecyclepolicy\/zone-a set to the current time/u,
  );
  stand.put({ limits }, { generation: 1, reset: formatTime(world.clock.nowMs()) });
  await world.advance(1);
  assert.deepEqual(
    world.decided('breaker-closed').map(({ why }) => why),
    ['reset'],
  );
  await world.advance(15);
  assert.deepEqual(world.evicted(), ['pod-a-0']);
});

test('an object that becomes invalid holds what its last valid version held, and the corrected one is in force at once', async () => {
  await using stand = aStand();
  const { world } = stand;
  await world.advance(5);
  stand.put({ mode: 'Paused' });
  await world.silentFor(100, 'a-0');
  stand.put({ mode: 'pause' });
  await world.advance(300);
  assert.deepEqual([world.writes, world.evicted()], [[], []]);
  stand.put({ mode: 'Enforce' });
  await world.advance(1);
  assert.deepEqual(world.evicted(), ['pod-a-0']);
});

test('an object that a fresh process finds invalid pauses the nodes that it selects until it is mended', async () => {
  await using stand = aStand();
  const { world } = stand;
  stand.put({ mode: 'pause' });
  const ofB = { nodeSelector: { matchLabels: { 'topology.kubernetes.io/zone': 'b' } }, mode: 'Paused' };
  stand.informer.set('zone-b', aPolicyObject('zone-b', ofB));
  await world.advance(5);
  await world.silentFor(60, 'a-0', 'b-0');
  assert.deepEqual([world.ready('a-0'), world.ready('b-0')], ['True', 'True']);
  stand.put({ mode: 'Enforce' });
  await world.advance(10);
  assert.deepEqual([world.ready('a-0'), world.ready('b-0')], ['Unknown', 'True']);
});

test('a watch that delivers nothing any more changes nothing: the last known policies stay in force', async () => {
  await using stand = aStand();
  const { world } = stand;
  stand.put({ mode: 'Paused' });
  await world.advance(5);
  stand.informer.hasSynced = () => false;
  await world.silentFor(600, 'a-0');
  assert.deepEqual([world.writes, world.evicted()], [[], []]);
});

test('explain names the object and the field that would end a hold', async () => {
  await using stand = aStand();
  const { world } = stand;
  stand.put({ mode: 'Paused' });
  await world.advance(5);
  await world.silentFor(60, 'a-0');
  const page = describeNodeOutlook(explainNode(world, 'a-0'));
  assert.match(page, /would end: spec\.mode of nodelifecyclepolicy\/zone-a set to Enforce$/mu);
  assert.match(page, /^ {2}policy {5}zone-a, mode Paused \(nodelifecyclepolicy\/zone-a\)$/mu);
  stand.put({ limits: { maxUnhealthy: { count: 1 } } });
  await world.silentFor(60, 'a-1');
  assert.match(
    describeNodeOutlook(explainNode(world, 'a-0')),
    /or spec\.limits\.resetAt of nodelifecyclepolicy\/zone-a set to the current time$/mu,
  );
});

test('the figures of a policy: its nodes, those that are unhealthy or held, and pods that wait for their eviction', async () => {
  await using stand = aStand();
  const { world } = stand;
  const tolerating = [{ operator: 'Exists', effect: 'NoExecute', tolerationSeconds: 600 }] as const;
  world.addPod('patient', 'a-1', tolerating);
  stand.put({ limits: { maxUnhealthy: { count: 1 } } });
  await world.advance(5);
  await world.silentFor(100, 'a-1');
  await world.silentFor(60, 'a-2');
  const counting = countPolicyFigures({ stages: world.lifecycle.stages, nodes: world.nodes, pods: world.pods });
  const { value } = counting.next();
  const figures = value?.get('zone-a');
  const { nodes, unhealthy, held, pendingEvictions, breaker } = figures ?? {};
  assert.deepEqual([nodes, unhealthy, held, pendingEvictions], [4, 2, 2, 1]);
  assert.equal(breaker?.untilMs, Infinity);
});
