import assert from 'node:assert/strict';
import { mock, test } from 'node:test';
import { makeServerControllers } from '../../../../../../src/hollow-cluster/apiserver/controllers/server-controllers.ts';
import { buildStored } from '../../../../../../src/hollow-cluster/apiserver/registry/stored-version.ts';
import { ObjectRegistry } from '../../../../../../src/hollow-cluster/apiserver/registry/object-registry.ts';
import { ServedTargets } from '../../../../../../src/hollow-cluster/apiserver/registry/served-targets.ts';
import { makeStrategies } from '../../../../../../src/hollow-cluster/apiserver/kinds/strategies.ts';
import { servedResources } from '../../../../../../src/hollow-cluster/apiserver/resources.ts';
import { type Draft, StoredObject } from '../../../../../../src/hollow-cluster/apiserver/storage/stored-object.ts';
import { VersionedStore } from '../../../../../../src/hollow-cluster/apiserver/storage/versioned-store.ts';
import { SeededRandom } from '../../../../../support/fakes.ts';
import { ManualClock } from '../../../../../support/manual-clock.ts';

const strategies = makeStrategies(300);
const budgets = 'poddisruptionbudgets.policy';

/** A store, and the controller, which observes changes unless `observes` is false. */
function open() {
  const clock = new ManualClock();
  const store = new VersionedStore({ clock, resources: [...strategies.keys()] });
  const registry = new ObjectRegistry(store, clock, new SeededRandom(1));
  const targets = new ServedTargets(servedResources, strategies);
  const [controller] = makeServerControllers(['disruption-controller'], { store, registry, clock, targets });
  assert.ok(controller);
  const state = { observes: true };
  for (const table of controller.tables) {
    store.table(table).hub.add({ bucket: '', deliver: (c) => state.observes && controller.observe?.(c) });
  }
  return { clock, store, registry, controller, state, ...writers(store) };
}

function writers(store: VersionedStore) {
  const put = (table: string, draft: Draft): StoredObject => {
    const strategy = strategies.get(table);
    assert.ok(strategy);
    return store.put(table, (revision) => buildStored(strategy, draft, revision, []));
  };
  const pod = (namespace: string, name: string, ready = 'True'): StoredObject => {
    const status = { conditions: [{ type: 'Ready', status: ready }] };
    return put('pods', { metadata: { namespace, name, uid: name }, status });
  };
  const budget = (namespace: string, name: string, status = {}): StoredObject =>
    put(budgets, { metadata: { namespace, name, uid: name }, spec: { minAvailable: 1, selector: {} }, status });
  const healthy = (namespace: string): unknown =>
    store.get(budgets, `${namespace}/b`)?.content.status?.['currentHealthy'];
  return { pod, budget, healthy };
}

test('a pass reads only the pods that changed', () => {
  const { store, controller, pod, budget } = open();
  for (let index = 0; index < 50; index += 1) pod('a', `p${index}`).tail.join('');
  for (let index = 0; index < 5; index += 1) budget('a', `b${index}`);
  controller.sync();
  pod('a', 'p7', 'False').tail.join('');
  const reads: string[] = [];
  // oxlint-disable-next-line typescript/unbound-method
  const read = Object.getOwnPropertyDescriptor(StoredObject.prototype, 'content')?.get;
  const spy = mock.getter(StoredObject.prototype, 'content', function content(this: StoredObject): Draft {
    if (this.uid.startsWith('p')) reads.push(this.key);
    return read?.call(this) as Draft;
  });
  controller.sync();
  spy.mock.restore();
  assert.deepEqual(reads, ['a/p7']);
  assert.equal(store.get(budgets, 'a/b4')?.content.status?.['currentHealthy'], 49);
});

test('a pass computes the budgets of namespaces with changes, and all of them once a minute', () => {
  const { clock, controller, state, pod, budget, healthy } = open();
  for (const namespace of ['a', 'b']) {
    pod(namespace, 'p');
    budget(namespace, 'b');
  }
  controller.sync();
  // Its own writes are changes as well.
  controller.sync();
  assert.deepEqual([healthy('a'), healthy('b')], [1, 1]);
  state.observes = false;
  pod('b', 'p', 'False');
  state.observes = true;
  pod('a', 'p', 'False');
  controller.sync();
  assert.deepEqual([healthy('a'), healthy('b')], [0, 1]);
  clock.stall(60_000);
  controller.sync();
  assert.deepEqual([healthy('a'), healthy('b')], [0, 0]);
});

test('after a failure the next pass computes all budgets', () => {
  const { controller, registry, pod, budget, healthy } = open();
  pod('a', 'p');
  budget('a', 'b');
  controller.sync();
  pod('a', 'p', 'False');
  const amend = mock.method(registry, 'amend', () => {
    throw new Error('no');
  });
  assert.throws(() => controller.sync(), { message: 'no' });
  amend.mock.restore();
  controller.sync();
  assert.equal(healthy('a'), 0);
});

test('an evicted pod that remains is available again after two minutes, without a change', () => {
  const { clock, controller, pod, budget, healthy } = open();
  pod('a', 'p');
  budget('a', 'b', { disruptedPods: { p: new Date(clock.nowMs()).toISOString().replace(/\.\d+/, '') } });
  pod('b', 'p');
  budget('b', 'b');
  const delayMs = controller.sync();
  assert.ok(delayMs !== undefined && delayMs > 119_000 && delayMs <= 120_001);
  assert.equal(healthy('a'), 0);
  clock.stall(70_000);
  assert.equal(controller.sync(), delayMs - 70_000);
  clock.stall(delayMs - 70_000);
  assert.equal(controller.sync(), undefined);
  assert.equal(healthy('a'), 1);
});
