import assert from 'node:assert/strict';
import { test } from 'node:test';
import { countIndexes } from '../../../../src/apiserver/kinds/job-indexes.ts';

test('indexes of a Job are counted, not expanded', () => {
  const most = 2_147_483_647;
  assert.equal(countIndexes('', most), 0);
  assert.equal(countIndexes('1,3-5,7', most), 5);
  assert.equal(countIndexes('0-2000000000', most), 2_000_000_001);
  assert.equal(countIndexes('3-5,5', most), 'non-increasing order, previous: 5, current: 5');
  assert.equal(countIndexes('0-5', 5), 'too large index: "5"');
});
