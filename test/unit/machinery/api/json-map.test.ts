import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  canonicalJson,
  listOf,
  mapOf,
  mapsOf,
  ownValue,
  setOwn,
  textOf,
  withoutNulls,
} from '../../../../src/machinery/api/json-map.ts';

describe('JSON of unknown shape', () => {
  it('is read as empty if it has another type', () => {
    assert.deepEqual([mapOf([]), mapOf(null), mapOf('a'), mapOf({ a: 1 })], [{}, {}, {}, { a: 1 }]);
    assert.deepEqual([listOf({}), listOf(undefined), listOf([1])], [[], [], [1]]);
    assert.deepEqual(mapsOf([{ a: 1 }, null, [], 'b', {}]), [{ a: 1 }, {}]);
    assert.deepEqual([textOf(1), textOf(null), textOf('a')], ['', '', 'a']);
  });

  it('treats null as absent', () => {
    const value = { a: null, b: [{ c: null, d: 0 }, null], e: { f: undefined, g: '' } };
    assert.deepEqual(withoutNulls(value), { b: [{ d: 0 }, null], e: { g: '' } });
  });

  it('has one canonical text per value', () => {
    assert.equal(canonicalJson({ b: [{ y: 1, x: null }], a: 'é' }), '{"a":"é","b":[{"x":null,"y":1}]}');
    assert.equal(canonicalJson(undefined), 'null');
    assert.notEqual(canonicalJson([1, 2]), canonicalJson([2, 1]));
  });

  it('is read and filled by any key without what objects inherit', () => {
    const record: Record<string, string> = { a: '1' };
    assert.deepEqual(
      ['a', 'b', 'constructor', 'toString', '__proto__'].map((key) => ownValue(record, key)),
      ['1', undefined, undefined, undefined, undefined],
    );
    assert.equal(ownValue(undefined, 'a'), undefined);
    for (const key of ['constructor', '__proto__']) setOwn(record, key, '2');
    assert.equal(JSON.stringify(record), '{"a":"1","constructor":"2","__proto__":"2"}');
    assert.equal(ownValue(record, '__proto__'), '2');
  });
});
