import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import * as fc from 'fast-check';
import { splitKey } from '../../../src/api/object-key.ts';
import { describeArrival, diffStores } from '../../../src/informer/diff-stores.ts';
import { ObjectMap, type Place } from '../../../src/informer/object-map.ts';
import { SharedValues } from '../../../src/informer/shared-values.ts';
import { Store } from '../../../src/informer/store.ts';

interface Item {
  readonly uid: string;
  readonly resourceVersion: string;
  readonly colours: readonly string[];
}

const anItem = (uid: string, resourceVersion: string, ...colours: readonly string[]): Item => ({
  uid,
  resourceVersion,
  colours,
});

const anyKey = fc.constantFrom('a', 'b', 'x/a', 'x/b', 'y/a');
const placeOf = (key: string): Place => ({ namespace: '', ...splitKey(key) });
const mapOf = (items: ReadonlyMap<string, Item>): ObjectMap<Item> => {
  const objects = new ObjectMap<Item>();
  for (const [key, item] of items) objects.set(placeOf(key), item);
  return objects;
};
const anyItem: fc.Arbitrary<Item> = fc.record({
  uid: fc.constantFrom('u1', 'u2'),
  resourceVersion: fc.constantFrom('1', '2'),
  colours: fc.uniqueArray(fc.constantFrom('red', 'green', 'blue'), { maxLength: 3 }),
});
const anyContents = fc
  .array(fc.tuple(anyKey, anyItem), { maxLength: 6 })
  .map((entries) => new Map<string, Item>(entries));

type Deed =
  | { readonly set: readonly [string, Item] }
  | { readonly delete: string }
  | { readonly all: Map<string, Item> };
const anyDeed: fc.Arbitrary<Deed> = fc.oneof(
  fc.record({ set: fc.tuple(anyKey, anyItem) }),
  fc.record({ delete: anyKey }),
  fc.record({ all: anyContents }),
);

describe('the store', () => {
  test('agrees with a plain map, and its index with a scan of it', () => {
    fc.assert(
      fc.property(fc.array(anyDeed, { maxLength: 30 }), (deeds) => {
        const store = new Store<Item>({ colour: ({ colours }) => colours });
        let model = new Map<string, Item>();
        for (const deed of deeds) {
          if ('set' in deed) {
            const [key, item] = deed.set;
            store.set(placeOf(key), item);
            model.set(key, item);
          } else if ('delete' in deed) {
            store.delete(placeOf(deed.delete));
            model.delete(deed.delete);
          } else {
            store.replaceAll(mapOf(deed.all));
            model = new Map(deed.all);
          }
        }
        assert.deepEqual([...store.keys()].sort(), [...model.keys()].sort());
        for (const key of store.keys()) assert.equal(store.get(key), model.get(key));
        assert.deepEqual(new Set(store.values()), new Set(model.values()));
        assert.equal(store.size, model.size);
        assert.equal(store.get('z/a'), undefined);
        for (const colour of ['red', 'green', 'blue', 'none']) {
          const scanned = [...model.values()].filter(({ colours }) => colours.includes(colour));
          const found = store.byIndex('colour', colour);
          assert.equal(found.length, scanned.length);
          assert.deepEqual(new Set(found), new Set(scanned));
        }
      }),
    );
  });

  test('a reader that began before a replacement never sees the new state', () => {
    const store = new Store<Item>();
    const both = new Map([
      ['a', anItem('u', '1')],
      ['b', anItem('u', '1')],
    ]);
    store.replaceAll(mapOf(both));
    const seen: string[] = [];
    for (const key of store.keys()) {
      seen.push(key);
      store.replaceAll(mapOf(new Map([['c', anItem('u', '2')]])));
    }
    assert.deepEqual(seen, ['a', 'b']);
    assert.deepEqual([...store.keys()], ['c']);
  });

  test('does not know an index that nobody declared', () => {
    assert.throws(() => new Store<Item>({ colour: () => [] }).byIndex('size', 'xl'), RangeError);
  });
});

describe('objects by namespace and name', () => {
  test('the same name in two namespaces, and in none, are three objects', () => {
    const objects = mapOf(new Map(['a', 'x/a', 'y/a'].map((key) => [key, anItem(key, '1')])));
    assert.deepEqual([...objects.keys()], ['a', 'x/a', 'y/a']);
    assert.equal(objects.size, 3);
    objects.delete(placeOf('x/a'));
    objects.delete(placeOf('x/a'));
    assert.equal(objects.size, 2);
    assert.equal(objects.has('x/a'), false);
    assert.equal(objects.find('y/a')?.uid, 'y/a');
  });

  test('a namespace without objects is forgotten', () => {
    const objects = mapOf(new Map([['x/a', anItem('u', '1')]]));
    objects.delete(placeOf('x/a'));
    assert.equal(objects.byNamespace.size, 0);
  });
});

describe('the changes between two states', () => {
  test('lead from one to the other, each key told at most as gone and then come', () => {
    fc.assert(
      fc.property(anyContents, anyContents, (before, after) => {
        const told = new Map(before);
        for (const change of diffStores(mapOf(before), mapOf(after), (item) => item)) {
          if (change.kind === 'deleted') assert.ok(told.delete(change.key), 'only what was there goes');
          else {
            assert.equal(told.has(change.key), change.kind === 'modified');
            told.set(change.key, change.object);
          }
        }
        const identities = (items: ReadonlyMap<string, Item>): unknown =>
          new Map([...items].map(([key, { uid, resourceVersion }]) => [key, { uid, resourceVersion }]));
        assert.deepEqual(identities(told), identities(after));
      }),
    );
  });

  test('deletions come first, in their last known state', () => {
    const before = new Map([['a', anItem('u', '1')]]);
    const changes = diffStores(mapOf(before), mapOf(new Map([['b', anItem('v', '2')]])), (item) => item);
    assert.deepEqual(
      [...changes],
      [
        { kind: 'deleted', key: 'a', object: before.get('a') },
        { kind: 'added', key: 'b', object: anItem('v', '2') },
      ],
    );
  });

  test('objects without a version are always taken for changed', () => {
    const item = anItem('u', '');
    assert.equal(describeArrival('a', item, item, (same) => same).length, 1);
  });
});

describe('shared values', () => {
  test('equal structures become one, different ones do not', () => {
    const values = new SharedValues();
    const first = [{ key: 'a' }];
    assert.equal(values.share(first), first);
    assert.equal(values.share([{ key: 'a' }]), first);
    assert.notEqual(values.share([{ key: 'b' }]), first);
    assert.equal(values.share('x'), 'x');
    assert.equal(values.share(undefined), undefined);
    assert.equal(values.share(3), 3);
    assert.equal(values.size, 3);
  });
});
