import assert from 'node:assert/strict';
import { test } from 'node:test';
import { findRepeated } from '../../../../../src/hollow-cluster/apiserver/validation/find-repeated.ts';

test('values that stand earlier are found', () => {
  assert.deepEqual([...findRepeated([])], []);
  assert.deepEqual([...findRepeated(['a', 1, 'b', '1', 'a', 1, 'a'])], [4, 5, 6]);
});
