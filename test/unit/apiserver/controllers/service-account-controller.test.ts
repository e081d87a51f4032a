import assert from 'node:assert/strict';
import { mock, test } from 'node:test';
import { ServiceAccountController } from '../../../../src/apiserver/controllers/service-account-controller.ts';
import { forbidden } from '../../../../src/apiserver/api-errors/api-errors.ts';
import { ObjectRegistry } from '../../../../src/apiserver/registry/object-registry.ts';
import { ServedTargets } from '../../../../src/apiserver/registry/served-targets.ts';
import { buildStored } from '../../../../src/apiserver/registry/stored-version.ts';
import { makeStrategies } from '../../../../src/apiserver/registry/strategies.ts';
import { servedResources } from '../../../../src/apiserver/resources.ts';
import { VersionedStore } from '../../../../src/apiserver/storage/versioned-store.ts';
import { SeededRandom } from '../../../support/fakes.ts';
import { ManualClock } from '../../../support/manual-clock.ts';

const strategies = makeStrategies(300);

/** Namespaces, of which `refused` may have no service account. */
function open(error: Error) {
  const clock = new ManualClock();
  const store = new VersionedStore({ clock, resources: [...strategies.keys()] });
  const state = { refused: 'b' };
  const admit = mock.fn(({ draft }: { draft: { metadata: { namespace?: string } } }) => {
    if (draft.metadata.namespace === state.refused) throw error;
    return () => {};
  });
  const registry = new ObjectRegistry(store, clock, new SeededRandom(1), [{ admit }]);
  const target = new ServedTargets(servedResources, strategies).of('', 'serviceaccounts');
  const strategy = strategies.get('namespaces');
  assert.ok(strategy);
  for (const name of ['a', 'b', 'c']) {
    store.put('namespaces', (revision) => buildStored(strategy, { metadata: { name } }, revision, []));
  }
  const controller = new ServiceAccountController({ store, registry, target });
  const accounts = (): readonly string[] => [...store.table('serviceaccounts').now().from('')].map(({ key }) => key);
  return { controller, accounts, state };
}

test('a namespace whose quota forbids the service account does not keep others from getting one', () => {
  const { controller, accounts, state } = open(forbidden({ group: '', name: 'serviceaccounts' }, 'default', 'full'));
  assert.equal(controller.sync(), 5_000);
  assert.deepEqual(accounts(), ['a/default', 'c/default']);
  state.refused = '';
  assert.equal(controller.sync(), undefined);
  assert.deepEqual(accounts(), ['a/default', 'b/default', 'c/default']);
});

test('another failure is one of the controller', () => {
  const { controller } = open(new Error('disk full'));
  assert.throws(() => controller.sync(), /disk full/);
});
