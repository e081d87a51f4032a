import assert from 'node:assert/strict';
import { test } from 'node:test';
import { flag, flagGroup } from '../../../../src/cli/flags/flag-definition.ts';
import { takeOperand, takeRepeatedFlag } from '../../../../src/cli/flags/take-operand.ts';

const table = flagGroup('G', [
  flag.text('output', 'Format', { short: 'o' }),
  flag.boolean('all', 'All of them', { default: false }),
]);

test('the first argument that is no value of a flag is the operand', () => {
  const cases: readonly (readonly [readonly string[], string | undefined, readonly string[]])[] = [
    [['node/a'], 'node/a', []],
    [['--output', 'json', 'node/a'], 'node/a', ['--output', 'json']],
    [['-o', 'json', 'node/a', '--all'], 'node/a', ['-o', 'json', '--all']],
    [['-ojson', 'node/a'], 'node/a', ['-ojson']],
    [['--all', 'node/a'], 'node/a', ['--all']],
    [['--output=json'], undefined, ['--output=json']],
    [['--unknown', 'x', 'node/a'], 'node/a', ['--unknown', 'x']],
    [[], undefined, []],
  ];
  for (const [argv, operand, others] of cases)
    assert.deepEqual(takeOperand(argv, table), { operand, others }, argv.join(' '));
});

test('takes the values of one flag in both forms, and leaves all other arguments', () => {
  const argv = ['--label=a', '--out', 'f', '--label', 'b', '--labels=c', '--label='];
  assert.deepEqual(takeRepeatedFlag(argv, 'label'), { values: ['a', 'b', ''], others: ['--out', 'f', '--labels=c'] });
});

test('a flag without a value at the end is left, so that its absence is reported', () => {
  assert.deepEqual(takeRepeatedFlag(['--label'], 'label'), { values: [], others: ['--label'] });
});
