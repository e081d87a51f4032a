import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  applyJsonPatch,
  JsonPatchProblem,
} from '../../../../../src/hollow-cluster/apiserver/patch/apply-json-patch.ts';

const patched = (document: unknown, ...operations: readonly unknown[]): unknown =>
  applyJsonPatch(structuredClone(document), operations);

function assertRejected(document: unknown, ...operations: readonly unknown[]): void {
  assert.throws(() => patched(document, ...operations), JsonPatchProblem, JSON.stringify(operations));
}

test('each operation changes the document as kube-apiserver changes it', () => {
  const rows: readonly (readonly [document: unknown, operation: object, expected: unknown])[] = [
    [{ a: 1 }, { op: 'add', path: '/b', value: { c: 2 } }, { a: 1, b: { c: 2 } }],
    [{ a: 1 }, { op: 'add', path: '/a', value: 2 }, { a: 2 }],
    [{ a: 1 }, { op: 'add', path: '/b' }, { a: 1, b: null }],
    [{ a: [1, 3] }, { op: 'add', path: '/a/1', value: 2 }, { a: [1, 2, 3] }],
    [{ a: [1] }, { op: 'add', path: '/a/-', value: 2 }, { a: [1, 2] }],
    [{ a: [1] }, { op: 'add', path: '/a/1', value: 2 }, { a: [1, 2] }],
    [{ a: [1] }, { op: 'add', path: '/a/-1', value: 2 }, { a: [1, 2] }],
    [{ a: [1] }, { op: 'add', path: '/a/-2', value: 0 }, { a: [0, 1] }],
    [{ a: 1, b: 2 }, { op: 'remove', path: '/a' }, { b: 2 }],
    [{ a: [1, 2] }, { op: 'remove', path: '/a/0' }, { a: [2] }],
    [{ a: [1, 2] }, { op: 'remove', path: '/a/-1' }, { a: [1] }],
    [{ a: 1 }, { op: 'replace', path: '/a', value: 2 }, { a: 2 }],
    [{}, { op: 'replace', path: '/a', value: 2 }, { a: 2 }],
    [{ a: [1, 2] }, { op: 'replace', path: '/a/1', value: 3 }, { a: [1, 3] }],
    [{ a: 1 }, { op: 'replace', path: '', value: { b: 2 } }, { b: 2 }],
    [{ a: { b: 1 } }, { op: 'move', from: '/a/b', path: '/c' }, { a: {}, c: 1 }],
    [{ a: [1, 2, 3] }, { op: 'move', from: '/a/0', path: '/a/-' }, { a: [2, 3, 1] }],
    [{ a: { b: 1 } }, { op: 'copy', from: '/a', path: '/a/c' }, { a: { b: 1, c: { b: 1 } } }],
    [{}, { op: 'copy', from: '/a', path: '/b' }, { b: null }],
    [{ 'a/b~': 1 }, { op: 'add', path: '/a~1b~0', value: 2 }, { 'a/b~': 2 }],
    [{ '~1': 1 }, { op: 'remove', path: '/~01' }, {}],
    [{ a: { b: [1, null] } }, { op: 'test', path: '/a', value: { b: [1, null] } }, { a: { b: [1, null] } }],
    [{ a: 1 }, { op: 'test', path: '', value: { a: 1 } }, { a: 1 }],
    [{}, { op: 'test', path: '/a', value: null }, {}],
  ];
  for (const [document, operation, expected] of rows)
    assert.deepEqual(patched(document, operation), expected, JSON.stringify(operation));
});

test('an operation that cannot be applied is rejected', () => {
  const document = { a: { b: 1 }, list: [1], none: null };
  const operations: readonly unknown[] = [
    null,
    'x',
    {},
    { op: 'nope', path: '/a' },
    { op: 'toString', path: '/a' },
    { op: 'add', value: 1 },
    { op: 'add', path: 'a', value: 1 },
    { op: 'add', path: '', value: {} },
    { op: 'add', path: '/x/y', value: 1 },
    { op: 'add', path: '/none/y', value: 1 },
    { op: 'add', path: '/a/b/c', value: 1 },
    { op: 'add', path: '/list/2', value: 1 },
    { op: 'add', path: '/list/-3', value: 1 },
    { op: 'add', path: '/list/x', value: 1 },
    { op: 'add', path: '/list/1e0', value: 1 },
    { op: 'add', path: '/list/', value: 1 },
    { op: 'remove', path: '' },
    { op: 'remove', path: '/x' },
    { op: 'remove', path: '/list/1' },
    { op: 'remove', path: '/list/-' },
    { op: 'replace', path: '', value: 1 },
    { op: 'replace', path: '/x/y', value: 1 },
    { op: 'replace', path: '/list/1', value: 1 },
    { op: 'move', path: '/x' },
    { op: 'move', from: '/x', path: '/y' },
    { op: 'move', from: '/a', path: '/a/b' },
    { op: 'copy', from: '/x/y', path: '/y' },
    { op: 'copy', from: '/list/5', path: '/y' },
    { op: 'test', path: '/a', value: { b: 2 } },
    { op: 'test', path: '/a' },
  ];
  for (const operation of operations) assertRejected(document, operation);
});

test('a path reaches own properties only', () => {
  for (const path of [
    '/data/hasOwnProperty/call',
    '/data/constructor/prototype/x',
    '/data/__proto__/x',
    '/__proto__/x',
  ])
    for (const op of ['add', 'replace', 'remove', 'test']) assertRejected({ data: {} }, { op, path, value: 'x' });
  assertRejected({ data: {} }, { op: 'remove', path: '/data/toString' });
  assertRejected({ list: [] }, { op: 'add', path: '/list/length', value: 5 });
  assertRejected({ list: [] }, { op: 'copy', from: '/list/constructor', path: '/a' });
  const added = patched({ data: {} }, { op: 'add', path: '/data/__proto__', value: 'x' });
  assert.equal(JSON.stringify(added), '{"data":{"__proto__":"x"}}');
  assert.equal(({} as Record<string, unknown>)['x'], undefined);
});

test('a copy is independent of its source', () => {
  const copied = patched(
    { a: { b: 1 } },
    { op: 'copy', from: '/a', path: '/c' },
    { op: 'add', path: '/c/b', value: 2 },
  );
  assert.deepEqual(copied, { a: { b: 1 }, c: { b: 2 } });
});

test('copies that add up to more than 3 MiB are rejected', () => {
  const mebibyte = 'x'.repeat(1024 * 1024 - 2);
  const copies = (count: number): readonly unknown[] =>
    Array.from({ length: count }, (_, index) => ({ op: 'copy', from: '/a', path: `/b${index}` }));
  assert.equal(Object.keys(patched({ a: mebibyte }, ...copies(3)) as object).length, 4);
  assertRejected({ a: mebibyte }, ...copies(4));
  const doubling = Array.from({ length: 40 }, (_, index) => ({ op: 'copy', from: '/a', path: `/a/b${index}` }));
  assertRejected({ a: {} }, ...doubling);
});
