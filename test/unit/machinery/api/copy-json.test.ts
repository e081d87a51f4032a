import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { copyJson } from '../../../../src/machinery/api/copy-json.ts';

test('a copy is what decoding the encoded value returns', () => {
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      assert.equal(JSON.stringify(copyJson(value)), JSON.stringify(value));
    }),
  );
});

test('fields that are undefined are left out, and undefined items of a list are null', () => {
  const value = { a: undefined, b: { c: undefined, d: 1 }, e: [undefined, { f: undefined }] };
  assert.deepEqual(Object.entries(copyJson(value)), [
    ['b', { d: 1 }],
    ['e', [null, {}]],
  ]);
});

test('a copy shares nothing with the original', () => {
  const value = { list: [{ a: 1 }], map: { inner: { b: 2 } } };
  const copy = copyJson(value);
  copy.list[0] = { a: 3 };
  copy.map.inner.b = 4;
  assert.deepEqual(value, { list: [{ a: 1 }], map: { inner: { b: 2 } } });
});

test('a field named __proto__ stays a field', () => {
  const value: unknown = JSON.parse('{"a": {"__proto__": {"b": 1}}}');
  assert.equal(JSON.stringify(copyJson(value)), '{"a":{"__proto__":{"b":1}}}');
});
