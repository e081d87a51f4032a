import assert from 'node:assert/strict';
import { test } from 'node:test';
import { decideKey, parseKeys, type TopState } from '../../../../src/cli/top/decide-key.ts';

const start: TopState = { sort: 'next', reversed: false, filter: '', editing: false, offset: 0 };

/** The state after all keys of this input, or `quit`. */
function after(input: string, from: TopState = start): TopState | 'quit' {
  let state: TopState | 'quit' = from;
  for (const key of parseKeys(input)) if (state !== 'quit') state = decideKey(state, key);
  return state;
}

test('escape sequences are one key each, also in one chunk with others', () => {
  assert.deepEqual(parseKeys('q\x1b[A\x1b[5~\x1bOA/x'), ['q', '\x1b[A', '\x1b[5~', '\x1bOA', '/', 'x']);
  assert.deepEqual(parseKeys('\x1b'), ['\x1b']);
});

test('q and Ctrl+C quit; while the filter is typed only Ctrl+C does', () => {
  assert.equal(after('q'), 'quit');
  assert.equal(after('\x03'), 'quit');
  assert.equal(after('/\x03'), 'quit');
  assert.deepEqual(after('/q'), { ...start, editing: true, filter: 'q' });
});

test('the filter is typed after /, ends with Enter, and is cleared by Escape', () => {
  assert.deepEqual(after('/zone-aX\x7f\r'), { ...start, filter: 'zone-a' });
  assert.deepEqual(after('/zone\x1b'), start);
  assert.deepEqual(after('/zone\r\x1b'), start);
  assert.deepEqual(after('/a\x01\x1b[Ab\r'), { ...start, filter: 'ab' }, 'control characters are no text');
});

test('a filter has at most 100 characters', () => {
  const state = after(`/${'x'.repeat(300)}\r`);
  assert.ok(state !== 'quit' && state.filter.length === 100);
});

test('letters select the order, r reverses it, arrows scroll and never above the first node', () => {
  const sorts = ['t', 'n', 's', 'z', 'a'].map((key) => after(key)).map((state) => state !== 'quit' && state.sort);
  assert.deepEqual(sorts, ['next', 'name', 'state', 'zone', 'since']);
  assert.deepEqual(after('r'), { ...start, reversed: true });
  assert.deepEqual(after('jj\x1b[B\x1b[A'), { ...start, offset: 2 });
  assert.deepEqual(after('\x1b[6~\x1b[5~\x1b[5~k'), start);
  assert.deepEqual(after('x'), start);
});
