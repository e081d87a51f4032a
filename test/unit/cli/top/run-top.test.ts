import assert from 'node:assert/strict';
import { test } from 'node:test';
import { formatFrame, formatTables } from '../../../../src/cli/top/run-top.ts';

const lines = [
  { text: 'a', style: 'title' },
  { text: 'b', style: 'plain' },
] as const;

test('a frame is drawn over the last one, line by line, and clears what is left of it', () => {
  assert.equal(formatFrame(lines, true), '\x1b[H\x1b[1ma\x1b[0m\x1b[K\r\nb\x1b[K\x1b[J');
});

test('without colour there is no graphic rendition', () => {
  // oxlint-disable-next-line no-control-regex -- it is what must not occur
  assert.doesNotMatch(formatFrame(lines, false), /\x1b\[[0-9;]*m/);
  assert.equal(formatTables(lines), 'a\nb\n');
});
