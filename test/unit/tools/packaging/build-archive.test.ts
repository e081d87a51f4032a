import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { buildArchive } from '../../../../tools/packaging/build-archive.ts';
import { tempFolder } from '../../../support/temp-folder.ts';

const files = [
  { path: 'nlc.js', mode: 0o755, content: Buffer.from('#!/usr/bin/env node\n') },
  { path: 'chunks/a.js', mode: 0o644, content: Buffer.alloc(1_025, 'x') },
  { path: 'empty', mode: 0o644, content: Buffer.alloc(0) },
];

test('tar unpacks the same files with the same modes', () => {
  const folder = tempFolder();
  writeFileSync(join(folder, 'a.tar'), buildArchive(files));
  const { status, stderr } = spawnSync('tar', ['-xf', 'a.tar'], { cwd: folder, encoding: 'utf8' });
  assert.deepEqual([status, stderr], [0, '']);
  for (const { path, mode, content } of files) {
    assert.deepEqual(readFileSync(join(folder, path)), content);
    assert.equal(statSync(join(folder, path)).mode & 0o111, mode & 0o111, path);
  }
});

test('the bytes do not depend on the order of the files', () => {
  assert.deepEqual(buildArchive(files), buildArchive(files.toReversed()));
});

test('a path that does not fit into a header is an error', () => {
  assert.throws(
    () => buildArchive([{ path: 'x'.repeat(101), mode: 0o644, content: Buffer.alloc(0) }]),
    /longer than 100 bytes/,
  );
});
