// The archive and the manifest for krew: `npm run krew`, and what krew does with them, which needs no krew: the checksum is
// compared, the archive is unpacked, and a link with the name of the plugin leads to its program.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { after, before, test } from 'node:test';
import { parse } from 'yaml';
import { findControlPlane } from '../../tools/control-plane/binaries.ts';
import { root } from '../../tools/manifests/render.ts';

const url = 'https://releases.example.com/plugin.tar.gz';
let folder = '';
let archive = '';

interface Platform {
  readonly uri: string;
  readonly sha256: string;
  readonly bin: string;
}

function run(
  command: string,
  args: readonly string[],
  path = '',
): { code: number | null; stdout: string; stderr: string } {
  const PATH = [path, dirname(process.execPath), process.env['PATH'] ?? ''].join(delimiter);
  const { status, stdout, stderr } = spawnSync(command, args, {
    cwd: folder,
    encoding: 'utf8',
    env: { ...process.env, PATH },
  });
  return { code: status, stdout, stderr };
}

function platform(): Platform {
  const { spec } = parse(readFileSync(join(folder, 'node-lifecycle.yaml'), 'utf8')) as {
    spec: { platforms: Platform[] };
  };
  return spec.platforms[0] ?? assert.fail('no platform');
}

before(() => {
  folder = mkdtempSync(join(tmpdir(), 'nlc-krew-test-'));
  const built = run(process.execPath, [join(root, 'tools', 'packaging', 'krew.ts'), `--out=${folder}`, `--url=${url}`]);
  assert.equal(built.code, 0, built.stdout + built.stderr);
  archive = join(folder, /node-lifecycle-\S+\.tar\.gz/.exec(built.stdout)?.[0] ?? '');
});

after(() => rmSync(folder, { recursive: true, force: true }));

test('the manifest has the checksum of the archive', () => {
  const { uri, sha256 } = platform();
  assert.equal(uri, url);
  assert.equal(createHash('sha256').update(readFileSync(archive)).digest('hex'), sha256);
});

test('unpacked and linked as krew does it, kubectl runs the plugin and completes its commands', () => {
  const [store, bin] = [join(folder, 'store'), join(folder, 'bin')];
  mkdirSync(store);
  mkdirSync(bin);
  assert.equal(run('tar', ['-xzf', archive, '-C', store]).code, 0);
  for (const name of ['kubectl-node_lifecycle', 'kubectl_complete-node_lifecycle'])
    symlinkSync(join(store, platform().bin), join(bin, name));
  const control = findControlPlane();
  const kubectl = 'missing' in control ? 'kubectl' : control.kubectl;
  const help = run(kubectl, ['node-lifecycle', 'help'], bin);
  assert.deepEqual([help.code, help.stderr], [0, '']);
  assert.match(help.stdout, /^kubectl node-lifecycle - /);
  assert.match(run(kubectl, ['__complete', 'node-lifecycle', 'expl'], bin).stdout, /^explain\t.*\n:4\n/);
});
