import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import {
  closeSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  readSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { writePrivateFile } from '../../../../src/cli/io/write-private-file.ts';

function aFolder(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), 'nlc-private-file-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** A program that writes more than a block. */
function writing(path: string): string {
  const module = new URL('../../../../src/cli/io/write-private-file.ts', import.meta.url);
  return `process.on('SIGXFSZ', () => {}); import(${JSON.stringify(module.href)}).then(({ writePrivateFile }) => writePrivateFile(${JSON.stringify(path)}, 'x'.repeat(100_000)))`;
}

test('a file is replaced as a whole: who has the former one open reads all of it', (t) => {
  const folder = aFolder(t);
  const path = join(folder, 'kubeconfig');
  writeFileSync(path, 'former', { mode: 0o644 });
  const former = openSync(path, 'r');
  writePrivateFile(path, 'new');
  assert.equal(readFileSync(former, 'utf8'), 'former');
  closeSync(former);
  assert.equal(readFileSync(path, 'utf8'), 'new');
  assert.equal(statSync(path).mode & 0o777, 0o600);
  assert.deepEqual(readdirSync(folder), ['kubeconfig']);
});

test('a link stays a link: the file that it names is written', (t) => {
  const folder = aFolder(t);
  const target = join(folder, 'target');
  writeFileSync(target, '');
  symlinkSync(target, join(folder, 'link'));
  writePrivateFile(join(folder, 'link'), 'new');
  assert.equal(readFileSync(target, 'utf8'), 'new');
  assert.equal(statSync(target).mode & 0o777, 0o600);
  assert.deepEqual(readdirSync(folder).sort(), ['link', 'target']);
});

test('what is no file, as a device, keeps its mode', (t) => {
  const pipe = join(aFolder(t), 'pipe');
  assert.equal(spawnSync('mkfifo', ['-m', '666', pipe]).status, 0);
  const reader = openSync(pipe, 'r+');
  t.after(() => closeSync(reader));
  writePrivateFile(pipe, 'new');
  const read = Buffer.alloc(8);
  assert.equal(read.toString('utf8', 0, readSync(reader, read)), 'new');
  assert.equal(statSync(pipe).mode & 0o777, 0o666);
});

test('a name that is too long for another one beside it is written in place', (t) => {
  const path = join(aFolder(t), 'k'.repeat(250));
  writePrivateFile(path, 'new');
  assert.equal(readFileSync(path, 'utf8'), 'new');
});

test('a failure that is none of the place leaves the former file as it was', (t) => {
  const folder = aFolder(t);
  const path = join(folder, 'kubeconfig');
  writeFileSync(path, 'former');
  // No file may be longer than a block, as on a full disk.
  const limited = spawnSync('sh', ['-c', `ulimit -f 1; exec "$0" -e "$1"`, process.execPath, writing(path)]);
  assert.notEqual(limited.status, 0);
  assert.equal(readFileSync(path, 'utf8'), 'former');
});

test('a folder that does not exist is an error with its path', (t) => {
  const path = join(aFolder(t), 'absent', 'kubeconfig');
  assert.throws(() => writePrivateFile(path, 'new'), { code: 'ENOENT', path });
});
