import assert from 'node:assert/strict';
import { test } from 'node:test';
import { median, percentile } from '../../bench/percentile.ts';

const hundred = Array.from({ length: 100 }, (_, index) => 100 - index);

test('a percentile is the value of the nearest rank', () => {
  assert.equal(percentile(hundred, 0.5), 50);
  assert.equal(percentile(hundred, 0.99), 99);
  assert.equal(percentile(hundred, 1), 100);
});

test('of few values the 99th percentile is the highest', () => {
  assert.equal(percentile([3, 1, 2], 0.99), 3);
  assert.equal(percentile([7], 0), 7);
});

test('the median of an even number of values is the mean of the two in the middle', () => {
  assert.equal(median([4, 1, 3, 2]), 2.5);
  assert.equal(median([9, 1, 5]), 5);
});

test('without values there is neither', () => {
  assert.ok(Number.isNaN(percentile([], 0.5)));
  assert.ok(Number.isNaN(median([])));
});
