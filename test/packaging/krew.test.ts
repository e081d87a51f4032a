// The archive and the manifest of the kubectl plugin: `npm run krew`, then krew itself validates the manifest and installs the
// plugin, and kubectl runs it.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { after, before, test } from 'node:test';
import { findKubectl } from '../../tools/control-plane/binaries.ts';
import { root } from '../../tools/manifests/render.ts';
import { findKrew } from '../../tools/packaging/krew-programs.ts';

const url = 'https://releases.example.com/plugin.tar.gz';
const found = findKrew();
const krew = 'missing' in found ? assert.fail(found.missing) : found;
let folder = '';
let manifest = '';
let archive = '';

interface Run {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** With what krew installed first on the PATH. */
function run(command: string, args: readonly string[]): Run {
  const PATH = [join(folder, 'bin'), dirname(process.execPath), process.env['PATH'] ?? ''].join(delimiter);
  const env = { ...process.env, PATH, KREW_ROOT: folder };
  const { status, stdout, stderr } = spawnSync(command, args, { cwd: folder, encoding: 'utf8', env, input: '' });
  return { code: status, stdout, stderr };
}

before(() => {
  folder = mkdtempSync(join(tmpdir(), 'nlc-krew-test-'));
  manifest = join(folder, 'node-lifecycle.yaml');
  const built = run(process.execPath, [join(root, 'tools', 'packaging', 'krew.ts'), `--out=${folder}`, `--url=${url}`]);
  assert.equal(built.code, 0, built.stdout + built.stderr);
  archive = join(folder, /node-lifecycle-\S+\.tar\.gz/.exec(built.stdout)?.[0] ?? '');
});

after(() => rmSync(folder, { recursive: true, force: true }));

test("krew's validator accepts the manifest, and not one with another name", () => {
  const validate = (file: string): Run => run(krew.validator, ['-skip-install', '-manifest', file]);
  const accepted = validate(manifest);
  assert.equal(accepted.code, 0, accepted.stderr);
  const renamed = join(folder, 'other.yaml');
  writeFileSync(renamed, readFileSync(manifest));
  assert.notEqual(validate(renamed).code, 0);
});

test('another archive than that of the checksum is not installed', () => {
  const other = join(folder, 'other.tar.gz');
  writeFileSync(other, Buffer.concat([readFileSync(archive), Buffer.of(0)]));
  const refused = run(krew.krew, ['install', `--manifest=${manifest}`, `--archive=${other}`]);
  assert.notEqual(refused.code, 0);
  assert.match(refused.stderr, /checksum/);
});

test('krew installs the archive with this checksum, and kubectl runs the plugin and completes its commands', () => {
  const installed = run(krew.krew, ['install', `--manifest=${manifest}`, `--archive=${archive}`]);
  assert.equal(installed.code, 0, installed.stdout + installed.stderr);
  const bin = join(folder, 'bin');
  symlinkSync(join(bin, 'kubectl-node_lifecycle'), join(bin, 'kubectl_complete-node_lifecycle'));
  const kubectl = findKubectl() ?? assert.fail('no kubectl');
  const help = run(kubectl, ['node-lifecycle', 'help']);
  assert.deepEqual([help.code, help.stderr], [0, '']);
  assert.match(help.stdout, /^kubectl node-lifecycle - /);
  assert.match(run(kubectl, ['__complete', 'node-lifecycle', 'expl']).stdout, /^explain\t.*\n:4\n/);
});
