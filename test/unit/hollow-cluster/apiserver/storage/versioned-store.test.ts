import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { Snapshot } from '../../../../../src/hollow-cluster/apiserver/storage/resource-table.ts';
import type { StoreChange } from '../../../../../src/hollow-cluster/apiserver/storage/store-change.ts';
import { StoredObject } from '../../../../../src/hollow-cluster/apiserver/storage/stored-object.ts';
import { VersionedStore } from '../../../../../src/hollow-cluster/apiserver/storage/versioned-store.ts';
import { bucketOf } from '../../../../../src/hollow-cluster/apiserver/storage/watch-hub.ts';
import { ManualClock, settled } from '../../../../support/manual-clock.ts';

const encode =
  (name: string, nodeName = '') =>
  (revision: number): StoredObject => {
    const fields = { 'spec.nodeName': nodeName };
    const located = { key: name, namespace: '', name, uid: `uid-${name}`, revision, labels: {}, fields };
    return new StoredObject(located, { metadata: { name, resourceVersion: String(revision) } });
  };

function aStore(): VersionedStore {
  return new VersionedStore({ clock: new ManualClock(), resources: ['nodes', 'pods'] });
}

const namesIn = (snapshot: Snapshot | undefined): readonly string[] | undefined =>
  snapshot === undefined ? undefined : [...snapshot.list()].map(({ name, revision }) => `${name}@${revision}`);

test('writes of all resources share one revision counter', () => {
  const store = aStore();
  const first = store.put('nodes', encode('a'));
  const second = store.put('pods', encode('b'));
  assert.equal(second.revision, first.revision + 1);
  assert.equal(store.revision, second.revision);
});

test('a removal has its own revision and contains the last state', () => {
  const store = aStore();
  const made = store.put('nodes', encode('a'));
  const removed = store.remove('nodes', encode('a'));
  assert.equal(removed.revision, made.revision + 1);
  assert.equal(removed.content.metadata.resourceVersion, String(removed.revision));
  assert.throws(() => store.remove('nodes', encode('a')));
});

test('an unknown resource throws a RangeError', () => {
  assert.throws(() => aStore().get('secrets', 'a'), RangeError);
});

const operation = fc.record({
  resource: fc.constantFrom('nodes', 'pods'),
  name: fc.constantFrom('a', 'b', 'c', 'd', 'e'),
  removes: fc.boolean(),
});

function apply(
  store: VersionedStore,
  { resource, name, removes }: { resource: string; name: string; removes: boolean },
): void {
  if (!removes) store.put(resource, encode(name));
  else if (store.get(resource, name) !== undefined) store.remove(resource, encode(name));
}

test('every state within the watch window can be restored', () => {
  fc.assert(
    fc.property(fc.array(operation, { maxLength: 60 }), (operations) => {
      const store = aStore();
      const seen = new Map<number, readonly string[] | undefined>();
      for (const each of operations) {
        apply(store, each);
        seen.set(store.revision, namesIn(store.table('nodes').now()));
      }
      for (const [revision, names] of seen) assert.deepEqual(namesIn(store.at('nodes', revision)), names);
    }),
  );
});

test('a kept snapshot outlives the watch window until compaction', () => {
  const store = aStore();
  store.put('nodes', encode('a'));
  const { revision } = store;
  store.table('nodes').keep(revision);
  store.put('nodes', encode('b'));
  store.table('nodes').window.clear(store.revision);
  assert.deepEqual(namesIn(store.at('nodes', revision)), [`a@${revision}`]);
  store.compact();
  assert.equal(store.at('nodes', revision), undefined);
  assert.notEqual(store.at('nodes', store.revision), undefined);
});

test('a change is delivered to the buckets of its old and new state', () => {
  const store = aStore();
  const delivered: string[] = [];
  const listen = (label: string, bucket: string): (() => void) =>
    store.table('pods').hub.add({ bucket, deliver: ({ kind }: StoreChange) => delivered.push(`${label} ${kind}`) });
  const leave = listen('all', bucketOf({}));
  listen('n1', bucketOf({ nodeName: 'n1' }));
  listen('n2', bucketOf({ nodeName: 'n2' }));
  listen('a', bucketOf({ key: 'a' }));
  listen('b', bucketOf({ key: 'b' }));
  store.put('pods', encode('a', 'n1'));
  assert.deepEqual(delivered.splice(0), ['all added', 'a added', 'n1 added']);
  leave();
  leave();
  store.put('pods', encode('a', 'n2'));
  assert.deepEqual(delivered.splice(0), ['a modified', 'n2 modified', 'n1 modified']);
  assert.equal(store.table('pods').hub.size, 4);
});

test('reach waits for a future revision, up to its limit', async () => {
  const clock = new ManualClock();
  const store = new VersionedStore({ clock, resources: ['nodes'] });
  const never = new AbortController().signal;
  const came = store.reach(store.revision + 1, 1_000, never);
  const late = store.reach(store.revision + 2, 1_000, never);
  await settled();
  store.put('nodes', encode('a'));
  assert.equal(await came, true);
  await clock.advance(1_000);
  assert.equal(await late, false);
  assert.equal(clock.sleeping, 0);
});
