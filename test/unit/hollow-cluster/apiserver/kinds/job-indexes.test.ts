import assert from 'node:assert/strict';
import { test } from 'node:test';
import { countIndexes, findOverlap } from '../../../../../src/hollow-cluster/apiserver/kinds/job-indexes.ts';

test('indexes of a Job are counted, not expanded', () => {
  const most = 2_147_483_647;
  assert.equal(countIndexes('', most), 0);
  assert.equal(countIndexes('1,3-5,7', most), 5);
  assert.equal(countIndexes('0-2000000000', most), 2_000_000_001);
  assert.equal(countIndexes('3-5,5', most), 'non-increasing order, previous: 5, current: 5');
  assert.equal(countIndexes('0-5', 5), 'too large index: "5"');
});

test('the first index that two texts have in common is found in the time that their length takes', () => {
  const most = 2_147_483_647;
  assert.equal(findOverlap('', '1', most), undefined);
  assert.equal(findOverlap('0-2000000000', '1999999999,2000000001', most), 1_999_999_999);
  assert.equal(findOverlap('1,3-5,7', '2,6,8-9', most), undefined);
  const even = Array.from({ length: 100_000 }, (_, index) => 2 * index);
  const uneven = even.map((index) => index + 1);
  assert.equal(findOverlap(even.join(), uneven.join(), most), undefined);
  assert.equal(findOverlap(even.join(), [...uneven.slice(0, -1), 199_998].join(), most), 199_998);
});
