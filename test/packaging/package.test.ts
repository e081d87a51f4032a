// The package of `npm run build`: packed, installed into an empty folder without a network, and run.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { after, before, test } from 'node:test';
import { npmSbom } from '../../tools/packaging/npm-sbom.ts';
import { root } from '../../tools/manifests/render.ts';

const storyMsMax = 150_000;
let folder = '';
let dist = '';

interface Run {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** With the Node.js of the tests first on the PATH, which `nlc` uses. */
function run(command: string, args: readonly string[], cwd: string): Run {
  const path = `${dirname(process.execPath)}${delimiter}${process.env['PATH'] ?? ''}`;
  const env = { ...process.env, PATH: path, npm_config_offline: 'true', npm_config_cache: join(folder, 'cache') };
  const { status, stdout, stderr, error } = spawnSync(command, args, { cwd, env, encoding: 'utf8' });
  if (error !== undefined) throw error;
  return { code: status, stdout, stderr };
}

function must(command: string, args: readonly string[], cwd: string): string {
  const { code, stdout, stderr } = run(command, args, cwd);
  assert.equal(code, 0, `${command} ${args.join(' ')}: ${stdout}${stderr}`);
  return stdout;
}

before(() => {
  folder = mkdtempSync(join(tmpdir(), 'nlc-package-'));
  dist = join(folder, 'dist');
  for (const file of ['image/index.json', 'chunks/of-an-earlier-build.js']) {
    mkdirSync(dirname(join(dist, file)), { recursive: true });
    writeFileSync(join(dist, file), '{}');
  }
  must(process.execPath, [join(root, 'tools', 'bundle', 'build.ts'), dist], root);
});

after(() => rmSync(folder, { recursive: true, force: true }));

interface Packed {
  readonly filename: string;
  readonly unpackedSize: number;
  readonly files: readonly { readonly path: string; readonly mode: number }[];
}

/** npm 11 prints a list, npm 12 a map. */
function pack(): Packed {
  const answer = JSON.parse(must('npm', ['pack', '--json', '--pack-destination', folder], dist)) as Record<
    string,
    Packed
  >;
  const [packed] = Object.values(answer);
  assert.ok(packed !== undefined);
  return packed;
}

test('a build replaces the earlier build and keeps the image beside it', () => {
  assert.equal(existsSync(join(dist, 'chunks', 'of-an-earlier-build.js')), false);
  assert.equal(existsSync(join(dist, 'image', 'index.json')), true);
});

test('on an older Node.js the program and the scripts of a release say which version is needed', () => {
  const old = `data:text/javascript,Object.defineProperty(process,'versions',{value:{...process.versions,node:'20.19.0'}})`;
  for (const file of [join(dist, 'nlc.js'), join(root, 'tools/release/print-programs.mjs')]) {
    const { code, stdout, stderr } = run(process.execPath, ['--import', old, file, 'status'], folder);
    assert.deepEqual([code, stdout], [1, '']);
    assert.match(stderr, /needs Node\.js >=24 \(got 20\.19\.0 at /);
    assert.doesNotMatch(stderr, /\n +at /, 'no stack');
  }
});

test('the package contains only the program and the licences', () => {
  const { files, unpackedSize } = pack();
  const isChunk = (path: string): boolean => /^chunks\/[^/]+\.js$/.test(path);
  const paths = files.map(({ path }) => path).sort();
  assert.ok(paths.some(isChunk));
  const others = paths.filter((path) => !isChunk(path));
  assert.deepEqual(others, [
    'CHANGELOG.md',
    'LICENSE',
    'README.md',
    'THIRD-PARTY-LICENSES.txt',
    'nlc.js',
    'package.json',
  ]);
  assert.ok(unpackedSize < 12e6, `${unpackedSize} bytes`);
  assert.equal((files.find(({ path }) => path === 'nlc.js')?.mode ?? 0) & 0o111, 0o111);
});

test('the licence text of every bundled package is included', () => {
  const text = readFileSync(join(dist, 'THIRD-PARTY-LICENSES.txt'), 'utf8');
  const entries = text.split(`\n${'-'.repeat(80)}\n`);
  assert.ok(entries.length > 30, `${entries.length} packages`);
  const bare = entries.filter((entry) => entry.trim().length < 400).map((entry) => entry.trim().split(' ', 1)[0]);
  assert.deepEqual(bare, [], 'packages without a licence text');
  for (const name of ['undici', 'zod', 'pino']) assert.match(text, new RegExp(`^${name} \\d`, 'm'));
});

test('installed without a network into an empty folder, it has no dependencies and completes the demo', {
  timeout: storyMsMax,
}, () => {
  const { filename } = pack();
  const empty = join(folder, 'empty');
  mkdirSync(empty);
  must('npm', ['install', '--no-audit', '--no-fund', '--prefix', empty, join(folder, filename)], empty);
  const listed = JSON.parse(must('npm', ['ls', '--all', '--json', '--prefix', empty], empty)) as {
    dependencies: Record<string, { dependencies?: object }>;
  };
  assert.deepEqual(Object.keys(listed.dependencies), ['node-lifecycle-controller']);
  assert.equal(listed.dependencies['node-lifecycle-controller']?.dependencies, undefined);

  const nlc = join(empty, 'node_modules', '.bin', 'nlc');
  const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { version: string };
  assert.ok(must(nlc, ['version'], empty).startsWith(`nlc ${version} (Node.js ${process.version}, `));
  assert.match(must(nlc, ['controller', '--validate-only'], empty), /the configuration is valid/);
  const bin = join(empty, 'node_modules', '.bin');
  assert.match(must(join(bin, 'kubectl-node_lifecycle'), ['help'], empty), /^kubectl node-lifecycle - /);
  assert.match(must(join(bin, 'kubectl_complete-node_lifecycle'), ['sta'], empty), /^status\t.*\n:4\n$/);
  const story = run(nlc, ['demo', '--once', '--output=json'], empty);
  assert.equal(story.code, 0, story.stdout + story.stderr);
  const end = JSON.parse(story.stdout.trim().split('\n').at(-1) ?? '') as { type: string; failed: readonly unknown[] };
  assert.deepEqual([end.type, end.failed], ['end', []]);
});

test('npm pack in the repository builds first and packs the same program', () => {
  const args = ['pack', '--json', '--dry-run', '--ignore-scripts'];
  const [packed] = Object.values(JSON.parse(must('npm', args, root)) as Record<string, Packed>);
  const sources = packed?.files.map(({ path }) => path).filter((path) => path.endsWith('.ts')) ?? ['none'];
  assert.deepEqual(sources, [], 'no TypeScript sources, because Node.js does not strip types in node_modules');
  const { bin, files, scripts } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
    bin: Record<string, string>;
    files: readonly string[];
    scripts: Record<string, string>;
  };
  assert.equal(scripts['prepack'], scripts['build']);
  for (const program of Object.values(bin)) assert.ok(files.includes(program), program);
});

test('the entrypoint of the image sets the heap size from the memory limit', () => {
  const script = 'console.log(require("node:v8").getHeapStatistics().heap_size_limit)';
  const limit = (percentage: number): number =>
    Number(must(process.execPath, [`--max-old-space-size-percentage=${percentage}`, '--eval', script], root));
  assert.ok(limit(60) > 1.8 * limit(30), `${limit(60)} and ${limit(30)}`);
});

test('the bill of materials contains every bundled package', () => {
  const { bomFormat, components } = JSON.parse(npmSbom('cyclonedx')) as {
    bomFormat: string;
    components: { name: string; version: string; hashes?: object[] }[];
  };
  assert.equal(bomFormat, 'CycloneDX');
  const known = new Set(components.map(({ name, version }) => `${name} ${version}`));
  const notices = readFileSync(join(dist, 'THIRD-PARTY-LICENSES.txt'), 'utf8');
  const bundled = [...notices.matchAll(/^((?:@[a-z0-9-]+\/)?[a-z0-9.-]+ \d+\.\d+\.\d+\S*)\n\S/gm)].map(
    ([, entry]) => entry,
  );
  assert.ok(bundled.length > 30, `${bundled.length}`);
  const left = bundled.filter((entry) => !known.has(entry ?? ''));
  assert.deepEqual(left, []);
  assert.ok(components.every(({ hashes = [] }) => hashes.length > 0));
});
