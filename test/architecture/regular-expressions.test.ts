// Regular expressions are matched in linear time: their input comes from outside, and backtracking stops the process for seconds.
import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import ts from 'typescript';

const root = join(import.meta.dirname, '..', '..');
const length = 8_000;
/** One pass over the text takes less than 1 ms, a pass from each of its characters more than 50. */
const limitMs = 20;

/** Texts that a class of characters or a group in a loop may match again and again. */
const repeated = [
  '/',
  ' ',
  '*',
  '0',
  'a',
  'A',
  '-',
  '.',
  ',',
  ':',
  '=',
  '"',
  "'",
  '_',
  '@',
  '\\',
  '\n',
  '+',
  '~',
  '!',
].concat(['a.', 'a-', '1m', 'a,', '\\"', '""']);
const contexts = ['', 'x', '"', '1', 'Bearer ', '=', ' 299 '].map((before) => ({ before, after: '\u0001' }));

function addLiterals(node: ts.Node, found: Set<string>): void {
  if (ts.isRegularExpressionLiteral(node)) found.add(node.text);
  ts.forEachChild(node, (child) => addLiterals(child, found));
}

function toRegExp(literal: string): RegExp {
  const end = literal.lastIndexOf('/');
  return new RegExp(literal.slice(1, end), literal.slice(end + 1));
}

function searchMs(pattern: RegExp, text: string): number {
  const started = performance.now();
  pattern.lastIndex = 0;
  pattern.exec(text);
  return performance.now() - started;
}

/** What the expression takes too long for, at the fastest of three times; undefined if there is nothing. */
function slowTextOf(pattern: RegExp): string | undefined {
  for (const part of repeated) {
    for (const { before, after } of contexts) {
      const text = before + part.repeat(length) + after;
      const isSlow = [1, 2, 3].every(() => searchMs(pattern, text) > limitMs);
      if (isSlow) return `${JSON.stringify(before)}, then ${JSON.stringify(part)} ${length} times`;
    }
  }
  return undefined;
}

test('no regular expression of the sources is slow for a text of 8,000 equal characters', () => {
  const literals = new Set<string>();
  for (const path of globSync('src/**/*.{ts,tsx}', { cwd: root })) {
    const text = readFileSync(join(root, path), 'utf8');
    addLiterals(ts.createSourceFile(path, text, ts.ScriptTarget.Latest), literals);
  }
  assert.ok(literals.size > 100, `${literals.size} expressions`);
  const slow = [...literals].map((literal) => [literal, slowTextOf(toRegExp(literal))]);
  assert.deepEqual(
    slow.filter(([, text]) => text !== undefined),
    [],
  );
});

test('an expression that begins at each character of a run is found', () => {
  for (const pattern of [/\/+$/, /\s*,\s*x/, /[^/]*@/])
    assert.notEqual(slowTextOf(pattern), undefined, String(pattern));
});
