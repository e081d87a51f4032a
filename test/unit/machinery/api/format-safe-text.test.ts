import assert from 'node:assert/strict';
import { test } from 'node:test';
import { escapeControls, escapeJsonControls, escapeLine } from '../../../../src/machinery/api/format-safe-text.ts';

test('control characters and marks of text direction are shown as escapes; lines, tabs and other scripts remain', () => {
  const hostile = 'a\x1b[2Jb\x07\x9bc\u202ed\u2066e\r\x7f';
  assert.equal(escapeControls(hostile), 'a\\x1b[2Jb\\x07\\x9bc\\u202ed\\u2066e\\x0d\\x7f');
  assert.equal(escapeControls('häufig\t节点\n'), 'häufig\t节点\n');
});

test('JSON remains equal, without raw control characters', () => {
  const value = { name: 'a\x9b\u202e\x7f', list: ['\n'] };
  const escaped = escapeJsonControls(JSON.stringify(value, undefined, 2));
  assert.deepEqual(JSON.parse(escaped), value);
  assert.match(escaped, /a\\u009b\\u202e\\u007f/);
});

test('a line remains one line: line feeds, tabs and other line ends are shown as escapes', () => {
  assert.equal(escapeLine('a\nb\tc\r\n\u2028d'), 'a\\nb\\tc\\x0d\\n\\u2028d');
});
