import assert from 'node:assert/strict';
import { test } from 'node:test';
import { collectModules } from '../../../../src/cli/simulate/report-page.ts';

const files: Readonly<Record<string, string>> = {
  'report/main.ts':
    "import { h } from '../lib/preact.mjs';\nimport './side.ts';\nimport { a } from '../a.ts';\nconst text = 'from here';\n",
  'report/side.ts': "export { a } from '../a.ts';\n",
  'a.ts': 'import{h}from"./lib/preact.mjs";export const a=h;',
  'lib/preact.mjs': 'export const h=1;',
};

const read = (path: string): Promise<string | undefined> => Promise.resolve(files[path]);

test('every module once, whatever imports it, with its imports by specifier', async () => {
  const modules = await collectModules('report/main.ts', read);
  assert.deepEqual(modules, [
    { specifier: 'nlc/a.ts', text: 'import{h}from"nlc/lib/preact.mjs";export const a=h;' },
    { specifier: 'nlc/lib/preact.mjs', text: 'export const h=1;' },
    {
      specifier: 'nlc/report/main.ts',
      text: "import { h } from 'nlc/lib/preact.mjs';\nimport 'nlc/report/side.ts';\nimport { a } from 'nlc/a.ts';\nconst text = 'from here';\n",
    },
    { specifier: 'nlc/report/side.ts', text: "export { a } from 'nlc/a.ts';\n" },
  ]);
});

test('a module that does not exist is an error', async () => {
  await assert.rejects(collectModules('report/other.ts', read), /no module report\/other\.ts/u);
});
