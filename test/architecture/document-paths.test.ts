// Files and folders of the code that documents name exist.
import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';

const root = join(import.meta.dirname, '..', '..');
const documents = globSync('{*.md,docs/**/*.md,test/**/README.md}', { cwd: root });
const paths = globSync('{src,test,tools,packaging,charts,manifests}/**/*', { cwd: root }).map(
  (path) => `/${path.replaceAll('\\', '/')}`,
);
/** A document may leave out the leading folders: `health/assess-node.ts`. */
const exists = (name: string): boolean => paths.some((path) => path.endsWith(`/${name}`));

function namedIn(document: string, pattern: RegExp): readonly string[] {
  return [...readFileSync(join(root, document), 'utf8').matchAll(pattern)].map(([, name = '']) => name);
}

test('TypeScript files that documents name exist', () => {
  let found = 0;
  for (const document of documents) {
    for (const name of namedIn(document, /`((?:[\w-]+\/)*[\w.-]+[\w-]\.ts)`/gu)) {
      found += 1;
      assert.ok(name.startsWith('.') || exists(name), `${document} names ${name}`);
    }
  }
  assert.ok(found > 50);
});

test('folders of the code that documents name exist', () => {
  const folder = /`((?:src|test|tools|controller|cli|adapters|informer|kubelet|apiserver)\/[\w/-]+)`/gu;
  for (const document of documents) {
    for (const name of namedIn(document, folder)) {
      assert.ok(
        ['', '.test.ts', '.long.test.ts'].some((end) => exists(name + end)),
        `${document} names ${name}`,
      );
    }
  }
});
