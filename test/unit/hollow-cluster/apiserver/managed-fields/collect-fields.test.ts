import assert from 'node:assert/strict';
import { test } from 'node:test';
import { collectFields } from '../../../../../src/hollow-cluster/apiserver/managed-fields/collect-fields.ts';
import {
  type ListType,
  type MapType,
  type ValueType,
} from '../../../../../src/hollow-cluster/apiserver/managed-fields/value-type.ts';

const text: ValueType = { scalar: 'string' };
const mapOf = (field: MapType['field']): ValueType => ({
  map: { atomic: false, field, element: undefined, nullable: [] },
});
const listOf = (list: Partial<ListType>): ValueType =>
  mapOf((name) =>
    name === 'items' ? { list: { kind: 'map', keys: [], keyDefaults: {}, element: () => text, ...list } } : undefined,
  );

test('an element that occurs several times is owned as one, without its fields', () => {
  const type = listOf({ keys: ['name'], element: () => mapOf(() => text) });
  const items = ['a', 'b', 'a'].map((name) => ({ name }));
  assert.deepEqual(
    [...collectFields(type, { items }).paths()].map((path) => path.slice(1)),
    [['k:{"name":"a"}'], ['k:{"name":"b"}'], ['k:{"name":"b"}', 'f:name']],
  );
});

test('the elements of a list are collected in linear time', () => {
  const items = Array.from({ length: 60_000 }, (_, index) => `item-${index}`);
  const startMs = performance.now();
  assert.equal(collectFields(listOf({ kind: 'set' }), { items }).below('f:items')?.entries.size, items.length);
  assert.ok(performance.now() - startMs < 10_000);
});
