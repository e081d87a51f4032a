// Consistency of generated pages, decision records, scripts and documents with the code.
import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { referencePages } from '../../tools/docs/reference-pages.ts';

const root = join(import.meta.dirname, '..', '..');
const read = (path: string): string => readFileSync(join(root, path), 'utf8');
const sources = (): readonly string[] => globSync('{src,test,tools}/**/*.ts', { cwd: root });

test('the generated pages are up to date: npm run docs', async () => {
  for (const { path, text } of await referencePages()) assert.equal(read(path), text, `${path} is not up to date`);
});

test('every decision that the code names has its record, and every record is well formed', () => {
  const records = globSync('docs/decisions/[0-9]*.md', { cwd: root });
  const numbers = records.map((path) => /(\d{4})-[a-z0-9-]+\.md$/.exec(path)?.[1]);
  assert.equal(new Set(numbers).size, records.length, 'two records share a number');
  for (const path of sources()) {
    for (const [, number] of read(path).matchAll(/\bdecision (\d{4})\b/g)) {
      assert.ok(numbers.includes(number), `${path} names decision ${number}, which does not exist`);
    }
  }
  for (const path of records) {
    for (const heading of ['## Context', '## Decision', '## Consequences'])
      assert.ok(read(path).includes(heading), `${path} lacks "${heading}"`);
  }
});

test('every script that a document names exists', () => {
  const { scripts } = JSON.parse(read('package.json')) as { scripts: Record<string, string> };
  for (const path of ['README.md', 'CONTRIBUTING.md', 'docs/ARCHITECTURE.md', 'test/control-plane/README.md']) {
    for (const [, name] of read(path).matchAll(/npm run ([a-z:-]+)/g)) {
      assert.ok(name !== undefined && scripts[name] !== undefined, `${path} names "npm run ${name}"`);
    }
  }
});

test('every folder of src is described in ARCHITECTURE.md', () => {
  const text = read('docs/ARCHITECTURE.md');
  for (const folder of globSync('src/{*/,controller/*/}', { cwd: root })) {
    const name = folder.replace(/\/$/, '');
    assert.ok(text.includes(`\`${name.slice('src/'.length)}\``), `${name} is not described`);
  }
});

test('every dependency is named in decision 0001 with what it is for', () => {
  const { dependencies, devDependencies } = JSON.parse(read('package.json')) as Record<string, Record<string, string>>;
  const text = read('docs/decisions/0001-dependencies.md');
  for (const name of Object.keys({ ...dependencies, ...devDependencies }))
    assert.ok(text.includes(`\`${name}\``), `${name} is not named`);
});

test('every limitation in decision 0019 has an answer that names an existing test', () => {
  const record = read('docs/decisions/0019-known-limitations.md');
  const titles = sources()
    .map((path) => read(path).replaceAll(/title:\s+'/g, "title: '"))
    .join('\n');
  const rows = [...record.matchAll(/^\| (\d+) \|.*\| `(.+)` \|$/gm)];
  const seen = rows.map(([, number]) => Number(number));
  assert.deepEqual(
    seen,
    Array.from({ length: 41 }, (_, index) => index + 1),
  );
  // A test of its own, or a scenario of a table of tests.
  const isNamed = (title: string): boolean =>
    [`test('${title}'`, `title: '${title}'`].some((text) => titles.includes(text));
  for (const [, number, title = ''] of rows) assert.ok(isNamed(title), `${number}: no test "${title}"`);
});
