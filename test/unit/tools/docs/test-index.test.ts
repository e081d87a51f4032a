import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { testIndexPage } from '../../../../tools/docs/test-index.ts';

const root = join(import.meta.dirname, '../../../..');
const rows = testIndexPage()
  .split('\n')
  .map((line) => /^\| `(.*)` \| (.*) \|$/.exec(line))
  .filter((match) => match !== null)
  .map(([, file = '', tests = '']) => ({ file, tests: [...tests.matchAll(/`(.*?)`/g)].map(([, name = '']) => name) }));

test('each row names a file without a test at its path, and tests that exist', () => {
  assert.ok(rows.length > 100);
  for (const { file, tests } of rows) {
    assert.ok(existsSync(join(root, 'src', file)), file);
    assert.ok(!existsSync(join(root, 'test/unit', file.replace(/\.tsx?$/, '.test.ts'))), file);
    for (const name of tests) assert.ok(existsSync(join(root, 'test', name)), name);
  }
});

test('a file that only a scenario reaches is found, and one with its own test is not listed', () => {
  const stages = rows.find(({ file }) => file === 'controller/stages.ts');
  assert.ok(stages !== undefined && stages.tests.length > 0);
  assert.ok(rows.every(({ file }) => file !== 'controller/health/assess-node.ts'));
});
