import assert from 'node:assert/strict';
import { test } from 'node:test';
import { cutText } from '../../../../src/machinery/api/limits.ts';

test('a text within the limit is kept as it is; of a longer one the beginning remains, with a mark', () => {
  assert.equal(cutText('four', 4), 'four');
  assert.equal(cutText('fives', 4), 'five…');
  assert.equal(cutText('x'.repeat(400_000)), `${'x'.repeat(256)}…`);
});

test('a cut splits no surrogate pair', () => {
  assert.equal(cutText('abc🚀🚀', 4), 'abc…');
  assert.equal(cutText('abc🚀🚀', 5), 'abc🚀…');
});
