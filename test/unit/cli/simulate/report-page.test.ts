import assert from 'node:assert/strict';
import { test } from 'node:test';
import { collectModules, formatReportPage } from '../../../../src/cli/simulate/report-page.ts';
import type { Report } from '../../../../src/dashboard/report/report-data.ts';

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

const hostile = '</script><script>alert(1)</script><!-- \u202E"\'&';
const report: Report = {
  name: hostile,
  description: hostile,
  version: '1',
  seed: 1,
  durationMs: 60_000,
  runs: [
    {
      label: '',
      settings: 'defaults',
      nodes: [[hostile, hostile]],
      states: ['ready'],
      changes: [[0, 0, 0, 3]],
      zoneChanges: [],
      sampleMs: 10_000,
      samples: [],
      timeline: [],
      limits: [],
    },
  ],
  measures: [],
  text: hostile,
};
const assets = {
  styles: 'body { color: #123 }',
  modules: [
    { specifier: 'nlc/a.ts', text: `export const text = "${hostile.slice(0, 9)}";` },
    { specifier: 'nlc/main.ts', text: "import { text } from 'nlc/a.ts';" },
  ],
  entry: 'nlc/main.ts',
};
const page = formatReportPage(report, assets, (script) => `'sha256-${script.length}'`);

test('names are text only: they end no element and begin no comment', () => {
  assert.equal(page.match(/<script/gu)?.length, 3);
  assert.equal(page.match(/<\/script>/gu)?.length, 3);
  assert.ok(!page.includes('<!--') && !page.includes('alert(1)</script>'));
  const [, json = ''] = /<script type="application\/json" id="report-data">(.*?)<\/script>/su.exec(page) ?? [];
  assert.deepEqual(JSON.parse(json), report);
});

test('modules are in the page, and find each other by an import map', () => {
  const [, json = ''] = /<script type="importmap">(.*?)<\/script>/su.exec(page) ?? [];
  const { imports } = JSON.parse(json) as { readonly imports: Record<string, string> };
  assert.deepEqual(Object.keys(imports), ['nlc/a.ts', 'nlc/main.ts']);
  const prefix = 'data:text/javascript,';
  const text = imports['nlc/main.ts'] ?? '';
  assert.ok(text.startsWith(prefix));
  assert.equal(decodeURIComponent(text.slice(prefix.length)), assets.modules[1]?.text);
  assert.match(page, /<script type="module">import "nlc\/main\.ts";<\/script>/u);
});

test('the policy allows the scripts of the page by their hashes, and no request', () => {
  const [, policy = ''] = /content-security-policy" content="([^"]*)"/u.exec(page) ?? [];
  assert.match(
    policy,
    /^default-src 'none'; script-src 'sha256-\d+' 'sha256-\d+' data:; style-src 'unsafe-inline'; img-src data:/u,
  );
  assert.ok(!/https?:/u.test(page));
});

test('the same report gives the same page', () => {
  assert.equal(
    formatReportPage(report, assets, (script) => `'sha256-${script.length}'`),
    page,
  );
});
