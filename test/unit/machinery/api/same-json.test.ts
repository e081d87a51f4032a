import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import * as fc from 'fast-check';
import { coversJson, sameJson } from '../../../../src/machinery/api/same-json.ts';

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
