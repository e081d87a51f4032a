import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import * as fc from 'fast-check';
import { splitKey } from '../../../../src/machinery/api/object-key.ts';
import { diffObject, diffStores } from '../../../../src/machinery/informer/diff-stores.ts';
import { ObjectMap, type NamespacedName } from '../../../../src/machinery/informer/object-map.ts';
import { ValueInterner } from '../../../../src/machinery/informer/object-reader.ts';
import { Store } from '../../../../src/machinery/informer/store.ts';

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
const nameFrom = (key: string): NamespacedName => ({ namespace: '', ...splitKey(key) });
const mapOf = (items: ReadonlyMap<string, Item>): ObjectMap<Item> => {
  const objects = new ObjectMap<Item>();
  for (const [key, item] of items) objects.set(nameFrom(key), item);
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

type Operation =
  | { readonly set: readonly [string, Item] }
  | { readonly delete: string }
  | { readonly all: Map<string, Item> };
const anyOperation: fc.Arbitrary<Operation> = fc.oneof(
  fc.record({ set: fc.tuple(anyKey, anyItem) }),
  fc.record({ delete: anyKey }),
  fc.record({ all: anyContents }),
);

describe('the store', () => {
  test('equals a plain map, and its index a scan of it', () => {
    fc.assert(
      fc.property(fc.array(anyOperation, { maxLength: 30 }), (operations) => {
        const store = new Store<Item>({ colour: ({ colours }) => colours });
        let model = new Map<string, Item>();
        for (const operation of operations) {
          if ('set' in operation) {
            const [key, item] = operation.set;
            store.set(nameFrom(key), item);
            model.set(key, item);
          } else if ('delete' in operation) {
            store.delete(nameFrom(operation.delete));
            model.delete(operation.delete);
          } else {
            store.replaceAll(mapOf(operation.all));
            model = new Map(operation.all);
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

  test('an iteration that started before a replacement never sees the new state', () => {
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

  test('throws for an index that is not declared', () => {
    assert.throws(() => new Store<Item>({ colour: () => [] }).byIndex('size', 'xl'), RangeError);
  });
});

describe('objects by namespace and name', () => {
  test('the same name in two namespaces, and in none, are three objects', () => {
    const objects = mapOf(new Map(['a', 'x/a', 'y/a'].map((key) => [key, anItem(key, '1')])));
    assert.deepEqual([...objects.keys()], ['a', 'x/a', 'y/a']);
    assert.equal(objects.size, 3);
    objects.delete(nameFrom('x/a'));
    objects.delete(nameFrom('x/a'));
    assert.equal(objects.size, 2);
    assert.equal(objects.has('x/a'), false);
    assert.equal(objects.find('y/a')?.uid, 'y/a');
  });

  test('a namespace without objects is removed', () => {
    const objects = mapOf(new Map([['x/a', anItem('u', '1')]]));
    objects.delete(nameFrom('x/a'));
    assert.equal(objects.byNamespace.size, 0);
  });
});

describe('the changes between two states', () => {
  test('lead from one to the other, each key with at most one deletion followed by one addition', () => {
    fc.assert(
      fc.property(anyContents, anyContents, (before, after) => {
        const replayed = new Map(before);
        for (const change of diffStores(mapOf(before), mapOf(after), (item) => item)) {
          if (change.kind === 'deleted') assert.ok(replayed.delete(change.key), 'only present objects are deleted');
          else {
            assert.equal(replayed.has(change.key), change.kind === 'modified');
            replayed.set(change.key, change.object);
          }
        }
        const identities = (items: ReadonlyMap<string, Item>): unknown =>
          new Map([...items].map(([key, { uid, resourceVersion }]) => [key, { uid, resourceVersion }]));
        assert.deepEqual(identities(replayed), identities(after));
      }),
    );
  });

  test('deletions come first, in their last known state', () => {
    const before = new Map([['a', anItem('u', '1')]]);
    const changes = diffStores(mapOf(before), mapOf(new Map([['b', anItem('v', '2')]])), (item) => item);
    const seen = [...changes];
    assert.deepEqual(seen, [
      { kind: 'deleted', key: 'a', object: before.get('a') },
      { kind: 'added', key: 'b', object: anItem('v', '2') },
    ]);
  });

  test('objects without a version always count as changed', () => {
    const item = anItem('u', '');
    assert.equal(diffObject('a', item, item, (same) => same).length, 1);
  });
});

describe('shared values', () => {
  test('equal structures become one, different ones do not', () => {
    const values = new ValueInterner();
    const first = [{ key: 'a' }];
    assert.equal(values.intern(first), first);
    assert.equal(values.intern([{ key: 'a' }]), first);
    assert.notEqual(values.intern([{ key: 'b' }]), first);
    assert.equal(values.intern('x'), 'x');
    assert.equal(values.intern(undefined), undefined);
    assert.equal(values.intern(3), 3);
    assert.equal(values.size, 3);
  });
});
