// Checks of the chart that do not need helm; the others are in test/packaging.
import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { parse } from 'yaml';
import { chartValuesSchema } from '../../tools/docs/chart-values-schema.ts';
import { policyCrdPages } from '../../tools/manifests/policy-crd-pages.ts';

const root = join(import.meta.dirname, '..', '..');
const folder = 'charts/node-lifecycle-controller';
const read = (path: string): string => readFileSync(join(root, path), 'utf8');
const templates = globSync(`${folder}/templates/*`, { cwd: root }).map(read).join('\n');
const values = parse(read(`${folder}/values.yaml`)) as Readonly<Record<string, unknown>>;

/** The path `a.b.c` of every value that is not a map, or an empty map. */
function leavesOf(value: unknown, path: readonly string[]): readonly string[] {
  const isLeaf = typeof value !== 'object' || value === null || Array.isArray(value);
  if (isLeaf || Object.keys(value).length === 0) return [path.join('.')];
  return Object.entries(value).flatMap(([key, inner]) => leavesOf(inner, [...path, key]));
}

/** Whether a template reads the value or one of its parents as `.Values.a.b`. */
function isRead(path: string): boolean {
  const parts = path.split('.');
  const prefixes = parts.map((_, index) => parts.slice(0, index + 1).join('.'));
  return prefixes.some((prefix) => new RegExp(`\\.Values\\.${prefix}(?![\\w.])`).test(templates));
}

test('the definition of NodeLifecyclePolicy follows from the schema of policies: npm run manifests', () => {
  for (const { path, text } of policyCrdPages()) assert.equal(read(path), text, `${path} is not up to date`);
});

test('every value is read by a template', () => {
  for (const path of leavesOf(values, [])) assert.ok(isRead(path), `no template reads ${path}`);
});

test('every value that a template reads is in values.yaml', () => {
  const paths = [...templates.matchAll(/\.Values\.([a-zA-Z.]+)/g)].map(([, path]) => path ?? '');
  assert.ok(paths.length > 50);
  for (const path of paths) {
    let value: unknown = values;
    for (const key of path.split('.')) {
      assert.ok(typeof value === 'object' && value !== null && key in value, `${path} is not in values.yaml`);
      value = (value as Readonly<Record<string, unknown>>)[key];
    }
  }
});

test('values.yaml is valid for its schema, and both have the same keys', () => {
  const parsed = chartValuesSchema.safeParse(values);
  assert.equal(parsed.error, undefined);
  const known = Object.keys(chartValuesSchema.shape).filter((key) => key !== 'global');
  assert.deepEqual(known.sort(), Object.keys(values).sort());
});

test('chart, program and static pod have the same version', () => {
  const { version } = JSON.parse(read('package.json')) as { version: string };
  const chart = parse(read(`${folder}/Chart.yaml`)) as { version: string; appVersion: string; annotations: object };
  assert.deepEqual([chart.version, chart.appVersion], [version, version]);
  assert.ok(JSON.stringify(chart.annotations).includes(`node-lifecycle-controller:${version}`));
  assert.ok(
    read('manifests/static-pod/node-lifecycle-controller.yaml').includes(`node-lifecycle-controller:${version}\n`),
  );
  assert.ok(read('Containerfile').includes(`node-lifecycle-controller:${version} `));
});

test('README.md lists the permissions that the chart grants by default', () => {
  const text = read('README.md');
  for (const word of ['nodes get, list, watch, patch', 'pods get, list, watch, delete', 'leases get, list, watch']) {
    assert.ok(text.replace(/\s+/g, ' ').includes(word), `README.md does not contain "${word}"`);
  }
});
