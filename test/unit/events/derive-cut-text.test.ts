import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { deriveCutText } from '../../../src/events/derive-cut-text.ts';

for (const [text, bytesMax, cut] of [
  ['', 3, ''],
  ['abc', 3, 'abc'],
  ['abcd', 3, 'abc'],
  ['aé', 2, 'a'],
  ['aé', 3, 'aé'],
  ['a€', 3, 'a'],
  ['😀😀', 7, '😀'],
  ['😀', 3, ''],
] as const)
  test(`"${text}" in ${bytesMax} bytes is "${cut}"`, () => {
    assert.equal(deriveCutText(text, bytesMax), cut);
  });

test('law: the longest beginning that fits, and no character in two', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme', maxLength: 40 }), fc.integer({ min: 0, max: 60 }), (text, bytesMax) => {
      const cut = deriveCutText(text, bytesMax);
      assert.ok(text.startsWith(cut));
      assert.ok(Buffer.byteLength(cut) <= bytesMax);
      assert.ok(cut.isWellFormed());
      const [next = ''] = text.slice(cut.length);
      assert.ok(next === '' || Buffer.byteLength(cut + next) > bytesMax);
    }),
  );
});
