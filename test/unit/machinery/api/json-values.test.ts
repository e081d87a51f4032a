import assert from 'node:assert/strict';
import { describe, it, test } from 'node:test';
import fc from 'fast-check';
import { copyJson, coversJson, sameJson } from '../../../../src/machinery/api/json-values.ts';

describe('comparing JSON', () => {
  it('finds a value equal to its copy, whatever the order of keys', () => {
    fc.assert(
      fc.property(fc.jsonValue({ noUnicodeString: true }), (value) => {
        assert.ok(sameJson(value, structuredClone(value)));
      }),
    );
    assert.ok(sameJson({ a: 1, b: 2 }, { b: 2, a: 1 }));
  });

  it('is symmetric', () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.jsonValue(), (a, b) => {
        assert.equal(sameJson(a, b), sameJson(b, a));
      }),
    );
  });

  it('accepts additional fields of objects, but not additional items of lists', () => {
    assert.ok(coversJson({ a: 1, more: true }, { a: 1 }));
    assert.ok(!coversJson({ a: 1 }, { a: 1, more: true }));
    assert.ok(!coversJson([1, 2], [1]));
    assert.ok(coversJson([{ a: 1, more: true }], [{ a: 1 }]));
    assert.ok(!coversJson({ 0: 'a', length: 1 }, ['a']));
  });

  it('treats absent as undefined, but not as null', () => {
    assert.ok(sameJson({ a: undefined }, {}));
    assert.ok(!sameJson({ a: null }, {}));
    assert.ok(!coversJson(undefined, {}));
  });
});

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
