// Names, messages, comments and documents use the words of Kubernetes.
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { findings, findingsIn, readableFiles } from '../support/vocabulary.ts';

const root = join(import.meta.dirname, '..', '..');

test('names, messages, comments and documents contain no word that has a replacement in the Kubernetes vocabulary', () => {
  const lines = findings(root).map(({ path, line, found, use }) => `${path}:${line}: "${found}": use ${use}`);
  assert.deepEqual(lines, []);
});

test('words are found in compound names, in file names and in prose', () => {
  const found = (path: string, text: string): readonly string[] =>
    findingsIn(path, text).map(({ line, found: word }) => `${line} ${word}`);
  assert.deepEqual(found('src/a.ts', 'const toldNobody = 1;'), ['1 told', '1 nobody']);
  assert.deepEqual(found('src/a.ts', "\nlog('sight_lost')"), ['2 sight']);
  assert.deepEqual(found('src/sight-clock.ts', ''), ['0 sight']);
  assert.deepEqual(found('docs/a.md', 'Nodes are listed anew.'), ['1 anew']);
  assert.deepEqual(found('src/a.ts', 'a duration in ns|us|ms; status; insight'), []);
});

test('sources, tests, tools, charts and documents are searched', () => {
  const files = readableFiles(root);
  for (const path of [
    'src/cli/main.ts',
    'README.md',
    'docs/ARCHITECTURE.md',
    'charts/node-lifecycle-controller/values.yaml',
  ])
    assert.ok(files.includes(path), path);
});
