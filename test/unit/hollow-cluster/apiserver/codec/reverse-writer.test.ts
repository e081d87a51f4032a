import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ReverseWriter } from '../../../../../src/hollow-cluster/apiserver/codec/reverse-writer.ts';

const bytesOf = (value: number): string => {
  const writer = new ReverseWriter();
  writer.varint(value);
  return writer.take().toString('hex');
};

test('an integer has the bytes of its 64 bits', () => {
  assert.deepEqual([0, 1, 127, 128, 300, -1, -(2 ** 63), 2 ** 63].map(bytesOf), [
    '00',
    '01',
    '7f',
    '8001',
    'ac02',
    'ffffffffffffffffff01',
    '80808080808080808001',
    '80808080808080808001',
  ]);
});

test('a number that is no integer of 64 bits is not written', () => {
  for (const value of [1.5, -0.5, 300.5, 1e300, -1e300, 2 ** 64, NaN, Infinity]) {
    assert.throws(() => bytesOf(value), RangeError, String(value));
  }
});
