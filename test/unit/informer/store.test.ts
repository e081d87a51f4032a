import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import * as fc from 'fast-check';
import { describeArrival, diffStores } from '../../../src/informer/diff-stores.ts';
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

const anyKey = fc.constantFrom('a', 'b', 'c', 'd');
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
            store.set(...deed.set);
            model.set(...deed.set);
          } else if ('delete' in deed) {
            store.delete(deed.delete);
            model.delete(deed.delete);
          } else {
            store.replaceAll(new Map(deed.all));
            model = new Map(deed.all);
          }
        }
        assert.deepEqual(new Set(store.keys()), new Set(model.keys()));
        assert.equal(store.size, model.size);
        for (const colour of ['red', 'green', 'blue', 'none']) {
          const scanned = [...model.values()].filter(({ colours }) => colours.includes(colour));
          assert.deepEqual(new Set(store.byIndex('colour', colour)), new Set(scanned));
        }
      }),
    );
  });

  test('a reader that began before a replacement never sees the new state', () => {
    const store = new Store<Item>();
    store.replaceAll(
      new Map([
        ['a', anItem('u', '1')],
        ['b', anItem('u', '1')],
      ]),
    );
    const seen: string[] = [];
    for (const key of store.keys()) {
      seen.push(key);
      store.replaceAll(new Map([['c', anItem('u', '2')]]));
    }
    assert.deepEqual(seen, ['a', 'b']);
    assert.deepEqual([...store.keys()], ['c']);
  });

  test('does not know an index that nobody declared', () => {
    assert.throws(() => new Store<Item>({ colour: () => [] }).byIndex('size', 'xl'), RangeError);
  });
});

describe('the changes between two states', () => {
  test('lead from one to the other, each key told at most as gone and then come', () => {
    fc.assert(
      fc.property(anyContents, anyContents, (before, after) => {
        const told = new Map(before);
        for (const change of diffStores(before, after, (item) => item)) {
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
    const changes = diffStores(before, new Map([['b', anItem('v', '2')]]), (item) => item);
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
