import assert from 'node:assert/strict';
import { mock, test } from 'node:test';
import { makeServerControllers } from '../../../../src/apiserver/controllers/server-controllers.ts';
import { ObjectRegistry } from '../../../../src/apiserver/registry/object-registry.ts';
import { ServedTargets } from '../../../../src/apiserver/registry/served-targets.ts';
import { buildStored } from '../../../../src/apiserver/registry/stored-version.ts';
import { makeStrategies } from '../../../../src/apiserver/registry/strategies.ts';
import { servedResources } from '../../../../src/apiserver/resources.ts';
import type { Draft, StoredObject } from '../../../../src/apiserver/storage/stored-object.ts';
import { VersionedStore } from '../../../../src/apiserver/storage/versioned-store.ts';
import { SeededRandom } from '../../../support/fakes.ts';
import { ManualClock } from '../../../support/manual-clock.ts';

const strategies = makeStrategies(300);

/** A store, and the controller, which observes changes unless `observes` is false. */
function open() {
  const clock = new ManualClock();
  const store = new VersionedStore({ clock, resources: [...strategies.keys()] });
  const registry = new ObjectRegistry(store, clock, new SeededRandom(1));
  const targets = new ServedTargets(servedResources, strategies);
  const [controller] = makeServerControllers(['resourcequota-controller'], { store, registry, clock, targets });
  assert.ok(controller);
  const state = { observes: true, observed: 0 };
  for (const table of controller.tables) {
    const deliver = (change: Parameters<NonNullable<typeof controller.observe>>[0]): void => {
      if (!state.observes || controller.concerns?.(table, change) === false) return;
      state.observed += 1;
      controller.observe?.(change);
    };
    store.table(table).hub.add({ bucket: '', deliver });
  }
  const put = (table: string, draft: Draft): StoredObject => {
    const strategy = strategies.get(table);
    assert.ok(strategy);
    return store.put(table, (revision) => buildStored(strategy, draft, revision, []));
  };
  const pod = (namespace: string, name: string, more: Partial<Draft> = {}): StoredObject =>
    put('pods', { spec: {}, ...more, metadata: { namespace, name, uid: name, ...more.metadata } });
  const quota = (namespace: string, hard: Record<string, string>): StoredObject =>
    put('resourcequotas', { metadata: { namespace, name: 'q', uid: 'q' }, spec: { hard } });
  const status = (namespace: string): unknown => store.get('resourcequotas', `${namespace}/q`)?.content.status;
  return { clock, store, controller, state, put, pod, quota, status };
}

test('the status has the limits of the spec and what exists; resources that nothing uses have no count', () => {
  const { store, controller, pod, quota, status } = open();
  pod('a', 'p');
  quota('a', { pods: '2', 'example.com/x': '1', configmaps: '1' });
  controller.sync();
  const hard = { configmaps: '1', 'example.com/x': '1', pods: '2' };
  assert.deepEqual(status('a'), { hard, used: { configmaps: '0', pods: '1' } });
  const { revision } = store;
  controller.sync();
  assert.equal(store.revision, revision, 'what is up to date is not written again');
});

test('a pass computes the quotas of namespaces with changes, and all of them once a minute', () => {
  const { clock, controller, state, pod, quota, status } = open();
  for (const namespace of ['a', 'b']) quota(namespace, { pods: '9' });
  controller.sync();
  // Its own writes are changes as well.
  controller.sync();
  pod('a', 'p');
  state.observes = false;
  pod('b', 'p');
  controller.sync();
  const used = (namespace: string): unknown => (status(namespace) as { used: unknown }).used;
  assert.deepEqual([used('a'), used('b')], [{ pods: '1' }, { pods: '0' }]);
  clock.stall(60_000);
  controller.sync();
  assert.deepEqual(used('b'), { pods: '1' });
});

test('a pod is no longer counted when its grace period is over, without a change', () => {
  const { clock, controller, pod, quota, status } = open();
  quota('a', { pods: '9' });
  const deletionTimestamp = new Date(clock.nowMs() + 10_000).toISOString().replace(/\.\d+/, '');
  pod('a', 'p', { metadata: { deletionTimestamp, deletionGracePeriodSeconds: 10 } });
  const waitMs = controller.sync();
  assert.ok(waitMs !== undefined && waitMs > 19_000 && waitMs <= 20_001, String(waitMs));
  assert.deepEqual(status('a'), { hard: { pods: '9' }, used: { pods: '1' } });
  clock.stall(waitMs);
  assert.equal(controller.sync(), undefined);
  assert.deepEqual(status('a'), { hard: { pods: '9' }, used: { pods: '0' } });
});

test('without quotas no change concerns it, with them only those that change what is used', () => {
  const { state, put, pod, quota } = open();
  const lease = (): StoredObject =>
    put('leases.coordination.k8s.io', { metadata: { namespace: 'a', name: 'l' }, spec: {} });
  pod('a', 'p');
  lease();
  assert.equal(state.observed, 0);
  quota('a', { pods: '1' });
  pod('a', 'p');
  lease();
  assert.equal(state.observed, 2);
});

test('a long pass leaves the rest to the next one', () => {
  const { clock, controller, pod, quota, status } = open();
  const namespaces = Array.from({ length: 5 }, (_, index) => `n${index}`);
  for (const namespace of namespaces) quota(namespace, { pods: '9' });
  const monotonicMs = mock.method(clock, 'monotonicMs', () => 10 * monotonicMs.mock.callCount());
  assert.equal(controller.sync(), 1);
  const left = namespaces.filter((namespace) => status(namespace) === undefined);
  assert.ok(left.length > 0 && left.length < 5, left.join());
  pod('n0', 'p');
  for (let passes = 0; controller.sync() === 1; passes += 1) assert.ok(passes < 9);
  for (const namespace of namespaces) {
    assert.deepEqual(status(namespace), { hard: { pods: '9' }, used: { pods: namespace === 'n0' ? '1' : '0' } });
  }
});
