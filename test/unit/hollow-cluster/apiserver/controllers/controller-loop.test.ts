import assert from 'node:assert/strict';
import { setImmediate as turn } from 'node:timers/promises';
import { test } from 'node:test';
import { runController } from '../../../../../src/hollow-cluster/apiserver/controllers/controller-loop.ts';
import { buildStored } from '../../../../../src/hollow-cluster/apiserver/registry/stored-version.ts';
import { makeStrategies } from '../../../../../src/hollow-cluster/apiserver/kinds/strategies.ts';
import { VersionedStore } from '../../../../../src/hollow-cluster/apiserver/storage/versioned-store.ts';
import { silentLogger } from '../../../../support/fakes.ts';
import { ManualClock } from '../../../../support/manual-clock.ts';

test('a controller runs soon after a change that concerns it, and not after others', async () => {
  const clock = new ManualClock();
  const strategy = makeStrategies(300).get('pods');
  assert.ok(strategy);
  const store = new VersionedStore({ clock, resources: ['pods'] });
  const put = (name: string): unknown =>
    store.put('pods', (revision) => buildStored(strategy, { metadata: { namespace: 'a', name } }, revision, []));
  const seen: string[] = [];
  const controller = {
    name: 'test',
    tables: ['pods'],
    concerns: (table: string, { object }: { readonly object: { readonly name: string } }) =>
      table === 'pods' && object.name === 'yes',
    observe: ({ object }: { readonly object: { readonly name: string } }) => void seen.push(object.name),
    sync: (): undefined => void seen.push('sync'),
  };
  const abort = new AbortController();
  const running = runController(controller, { store, clock, logger: silentLogger }, abort.signal);
  await clock.advance(1_000);
  put('no');
  await clock.advance(1_000);
  assert.deepEqual(seen, ['sync']);
  put('yes');
  await clock.advance(1_000);
  assert.deepEqual(seen, ['sync', 'yes', 'sync']);
  abort.abort();
  await turn();
  await running;
});
