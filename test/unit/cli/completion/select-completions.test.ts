import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  formatCompletions,
  selectFlags,
  selectNames,
  selectPosition,
  selectValues,
} from '../../../../src/cli/completion/select-completions.ts';
import { flag, flagGroup } from '../../../../src/cli/flags/flag-definition.ts';

const table = flagGroup('G', [
  flag.text('output', 'Output format', { short: 'o', choices: ['text', 'json'] }),
  flag.text('kubeconfig', 'Kubeconfig file', {}),
  flag.text('token', 'Bearer token', {}),
  flag.boolean('all', 'All of them', { default: false }),
]);

const kindOf = (...words: readonly string[]): string => {
  const position = selectPosition(words, table);
  return position.kind === 'value'
    ? `value of ${position.flag.name}: ${position.typed}`
    : `${position.kind}: ${position.typed}`;
};

test('the last word is a flag, the value of a flag, or an argument', () => {
  assert.equal(kindOf('--ou'), 'flag: --ou');
  assert.equal(kindOf('--output', 'js'), 'value of output: js');
  assert.equal(kindOf('-o', ''), 'value of output: ');
  assert.equal(kindOf('--output=js'), 'value of output: js');
  assert.equal(kindOf('--all', 'no'), 'argument: no');
  assert.equal(kindOf('--all=t'), 'value of all: t');
  assert.equal(kindOf('-o', 'json', ''), 'argument: ');
});

test('the place of an argument counts only arguments', () => {
  const place = (...words: readonly string[]): number => {
    const position = selectPosition(words, table);
    return position.kind === 'argument' ? position.place : -1;
  };
  assert.deepEqual(
    [place(''), place('-o', 'json', ''), place('node/a', ''), place('--all', 'node/a', '')],
    [0, 0, 1, 1],
  );
});

const words = ({ candidates }: { candidates: readonly { word: string }[] }): readonly string[] =>
  candidates.map(({ word }) => word);

test('flags and the choices of a flag come from its definition; a file is left to the shell', () => {
  assert.deepEqual(words(selectFlags('--', table)), ['--output', '--kubeconfig', '--token', '--all', '--help']);
  assert.deepEqual(words(selectFlags('--k', table)), ['--kubeconfig']);
  const values = (name: string, typed = '') => selectValues(typed, table.find((each) => each.name === name)!);
  assert.deepEqual([words(values('output')), values('output').directive], [['text', 'json'], 4]);
  assert.deepEqual(words(values('output', 'j')), ['json']);
  assert.deepEqual(words(values('all')), ['true', 'false']);
  assert.deepEqual([words(values('kubeconfig')), values('kubeconfig').directive], [[], 0]);
  assert.deepEqual([words(values('token')), values('token').directive], [[], 4]);
});

test('names that a shell would interpret are left out', () => {
  const hostile = ['n1', 'n2.example', '$(reboot)', '`id`', 'a b', 'n;ls', '', '\x1b[2J', "n'"];
  assert.deepEqual(words(selectNames('node/', 'node/', hostile)), ['node/n1', 'node/n2.example']);
  const open = selectNames('pod/', 'pod/', ['default'], '/');
  assert.deepEqual([words(open), open.directive], [['pod/default/'], 6]);
});

test('the output is that of cobra: a candidate on each line, and the directive in the last one', () => {
  const candidates = [
    { word: 'a', description: 'what a is' },
    { word: 'b', description: '' },
  ];
  assert.equal(formatCompletions({ candidates, directive: 4 }), 'a\twhat a is\nb\n:4\n');
  assert.equal(formatCompletions({ candidates: [], directive: 0 }), ':0\n');
});
