import assert from 'node:assert/strict';
import { test } from 'node:test';
import { takeRepeatedFlag } from '../../../../src/cli/flags/repeated-flag.ts';

test('takes the values of one flag in both forms, and leaves all other arguments', () => {
  const argv = ['--label=a', '--out', 'f', '--label', 'b', '--labels=c', '--label='];
  assert.deepEqual(takeRepeatedFlag(argv, 'label'), { values: ['a', 'b', ''], others: ['--out', 'f', '--labels=c'] });
});

test('a flag without a value at the end is left, so that its absence is reported', () => {
  assert.deepEqual(takeRepeatedFlag(['--label'], 'label'), { values: [], others: ['--label'] });
});
