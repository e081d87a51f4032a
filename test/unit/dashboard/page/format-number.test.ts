import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  formatAmount,
  formatCount,
  formatCounted,
  formatKnown,
  formatRate,
} from '../../../../src/dashboard/page/format-number.ts';

test('numbers are short', () => {
  assert.deepEqual(
    [null, 2].map((value) => formatKnown(value, formatCount)),
    ['–', '2'],
  );
  assert.equal(formatCount(4_812), '4,812');
  assert.deepEqual([0.1, 1 / 3, 12.54, 1_240.4].map(formatAmount), ['0.1', '0.333', '12.5', '1,240']);
  assert.deepEqual([0, 0.01].map(formatRate), ['stopped', '0.01/s']);
  assert.deepEqual([formatCounted(1, 'node'), formatCounted(2_000, 'node')], ['1 node', '2,000 nodes']);
});
