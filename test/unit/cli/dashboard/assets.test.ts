import assert from 'node:assert/strict';
import { globSync } from 'node:fs';
import { join, posix } from 'node:path';
import { test } from 'node:test';
import { dashboardAsset } from '../../../../src/cli/dashboard/assets.ts';

const folder = join(import.meta.dirname, '..', '..', '..', '..', 'src', 'dashboard');

/** The paths that a script imports, from the folder of the assets. */
function importsOf(path: string, text: string): readonly string[] {
  const imports = text.matchAll(
    /^import ?["']([\w./-]+)["']|^(?:import|export)\b[^;'"=()]*\bfrom ?["']([\w./-]+)["']|\bfrom["']([\w./-]+)["']/gmu,
  );
  return [...imports].map(([, bare, from, minified]) => {
    const target = bare ?? from ?? minified ?? '';
    assert.ok(target.startsWith('.'), `${path} imports ${target}, which no browser finds`);
    return posix.join(posix.dirname(path), target);
  });
}

test('the page loads scripts and styles from this server only, and nothing in it is inline', async () => {
  const page = await dashboardAsset('');
  assert.equal(page?.contentType, 'text/html; charset=utf-8');
  const targets = [...(page?.body ?? '').matchAll(/(?:src|href)="([^"]+)"/gu)].map(([, target = '']) => target);
  const paths = targets.filter((target) => !target.startsWith('data:'));
  assert.ok(paths.length >= 3);
  for (const path of paths) {
    assert.match(path, /^dashboard\/assets\//u);
    assert.ok((await dashboardAsset(path.replace('dashboard/assets/', ''))) !== undefined, path);
  }
  assert.doesNotMatch(page?.body ?? '', /<style|style=|<script(?! type="module" src)/u);
});

test('every import of every script is an asset', async () => {
  const wanted = new Set(['main.ts']);
  for (const path of wanted) {
    const asset = await dashboardAsset(path);
    assert.ok(asset !== undefined, `${path} does not exist`);
    assert.equal(asset.contentType, 'text/javascript; charset=utf-8');
    for (const target of importsOf(path, asset.body)) wanted.add(target);
  }
  assert.ok(wanted.size > 30, [...wanted].join(' '));
  for (const library of ['lib/preact.mjs', 'lib/hooks.mjs', 'lib/uPlot.mjs']) assert.ok(wanted.has(library), library);
});

test('all sources are served, without types', async () => {
  for (const path of globSync('**/*.ts', { cwd: folder })) {
    const body = (await dashboardAsset(path))?.body ?? '';
    assert.doesNotMatch(body, /^\s*(?:interface|import type|export interface|export type) /mu, path);
  }
});

test('styles load nothing from elsewhere', async () => {
  for (const path of ['style.css', 'lib/uPlot.min.css']) {
    const asset = await dashboardAsset(path);
    assert.equal(asset?.contentType, 'text/css; charset=utf-8');
    assert.doesNotMatch(asset?.body ?? '', /url\(|@import/u);
  }
});

test('other paths are no assets', async () => {
  for (const path of ['main', '../cli/main.ts', '/etc/passwd', 'tsconfig.json', 'index.html', 'constructor'])
    assert.equal(await dashboardAsset(path), undefined, path);
});
