// The image of `npm run image`: valid, equal when it is built again in another folder, without a shell and without anything that its user
// can write. Its root file system runs the program as in a pod, against a real kube-apiserver.
import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import {
  closeSync,
  cpSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  readSync,
  rmSync,
  symlinkSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { after, before, test } from 'node:test';
import { parseImageConfig } from '../../tools/packaging/image/parse-containerfile.ts';
import { architectures, readPins } from '../../tools/packaging/image/pinned-inputs.ts';
import { findControlPlane } from '../../tools/control-plane/binaries.ts';
import { type KubeManifest, namespace, pick, renderChart, root } from '../../tools/manifests/render.ts';
import { findTools } from '../../tools/packaging/programs.ts';
import { findReleasePrograms } from '../../tools/packaging/release-programs.ts';
import { waitUntil } from '../control-plane/wait-until.ts';
import { ImageRoot } from './image-root.ts';
import { type ConfigFile, type Manifest, OciLayout } from './oci-layout.ts';
import { ReleaseStand } from './release-stand.ts';

const found = findReleasePrograms();
const programs = 'missing' in found ? assert.fail(found.missing) : found;
const platforms = ['linux/amd64', 'linux/arm64'] as const;
/** Of the machine code in an ELF file, at byte 18. */
const machines = { amd64: 62, arm64: 183 } as const;
const ownArchitecture = process.arch === 'arm64' ? 'arm64' : 'amd64';
const compressedBytesMax = 60e6;

let folder = '';
let layout: OciLayout;
/** Waits for clocks most of the time, so it runs beside the other tests. */
let demo: Promise<Ended> | undefined;

function must(command: string, args: readonly string[], cwd = root): string {
  const { status, stdout, stderr, error } = spawnSync(command, args, { cwd, encoding: 'utf8', maxBuffer: 64 << 20 });
  if (error !== undefined) throw error;
  assert.equal(status, 0, `${command} ${args.join(' ')}: ${stdout}${stderr}`);
  return stdout;
}

function build(repository: string, out: string): string {
  return must(process.execPath, [join(repository, 'tools/packaging/image/image.ts'), `--out=${out}`], repository);
}

before(() => {
  folder = mkdtempSync(join(tmpdir(), 'nlc-image-test-'));
  build(root, join(folder, 'out'));
  layout = new OciLayout(join(folder, 'out', 'image'));
  for (const architecture of architectures) unpack(architecture);
  demo = startDemo();
});

after(() => rmSync(folder, { recursive: true, force: true }));

function rootOf(architecture: string): string {
  return join(folder, architecture);
}

function unpack(architecture: (typeof architectures)[number]): void {
  const target = rootOf(architecture);
  mkdirSync(target);
  for (const { digest } of manifestOf(`linux/${architecture}`).layers)
    must('tar', ['-xzf', layout.blob(digest), '-C', target, '--same-permissions']);
}

function manifestOf(platform: string): Manifest {
  const [image] = layout.of(platform);
  return layout.manifest(image ?? assert.fail(`no ${platform}`));
}

function configOf(platform: string): ConfigFile {
  return layout.configFile(manifestOf(platform).config);
}

/** All files, folders and links of an image. */
function pathsOf(architecture: string): readonly string[] {
  return readdirSync(rootOf(architecture), { recursive: true, encoding: 'utf8' }).sort();
}

test('crane accepts the archive, and the image of each platform is at most 60 MB compressed', () => {
  assert.match(must(programs.crane, ['validate', '--tarball', join(folder, 'out', 'image.tar')]), /^PASS/);
  for (const platform of platforms) {
    const bytes = manifestOf(platform).layers.reduce((sum, { size }) => sum + size, 0);
    assert.ok(bytes > 40e6 && bytes <= compressedBytesMax, `${platform}: ${bytes}`);
  }
});

test('a second build in another folder has the same digest and the same archive', () => {
  const copy = join(folder, 'deeper', 'copy');
  must('git', ['clone', '--quiet', '--shared', root, copy]);
  const files = must('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard']).split('\0');
  for (const file of files.filter((path) => path !== '' && path !== 'node_modules'))
    cpSync(join(root, file), join(copy, file));
  symlinkSync(join(root, 'node_modules'), join(copy, 'node_modules'));
  build(copy, join(folder, 'again'));
  assert.equal(new OciLayout(join(folder, 'again', 'image')).root.digest, layout.root.digest);
  for (const out of ['out', 'again'])
    assert.equal(spawnSync('cmp', [join(folder, out, 'image.tar'), join(folder, 'out', 'image.tar')]).status, 0);
});

test('user, entrypoint, environment, ports and labels are those of the Containerfile, and /app has the files of the build', () => {
  const { Env, Labels, ...expected } = parseImageConfig(readFileSync(join(root, 'Containerfile'), 'utf8'));
  const dist = join(folder, 'dist');
  must(process.execPath, [join(root, 'tools/bundle/build.ts'), dist]);
  const built = readdirSync(dist, { recursive: true, encoding: 'utf8' }).sort();
  for (const architecture of architectures) {
    const { config, os, architecture: actual } = configOf(`linux/${architecture}`);
    const { Env: env, Labels: labels, ...others } = config;
    assert.deepEqual([os, actual, others], ['linux', architecture, expected]);
    assert.deepEqual(
      env.filter((line) => !/^(PATH|SSL_CERT_FILE)=/.test(line)),
      Env,
    );
    for (const [name, value] of Object.entries(Labels)) assert.equal(labels[name], value, name);
    const app = pathsOf(architecture).filter((path) => path.startsWith('app/'));
    assert.deepEqual(
      app.map((path) => path.slice('app/'.length)),
      built,
    );
    for (const path of built) {
      const file = join(rootOf(architecture), 'app', path);
      if (lstatSync(file).isFile()) assert.deepEqual(readFileSync(file), readFileSync(join(dist, path)), path);
    }
  }
});

test('no shell and no other program but Node.js, no setuid file, nothing that others can write', () => {
  for (const architecture of architectures) {
    const paths = pathsOf(architecture);
    const executable = paths.filter((path) => {
      const { mode, uid, gid } = lstatSync(join(rootOf(architecture), path));
      const isLink = (mode & 0o170000) === 0o120000;
      assert.ok(isLink || (mode & 0o7022) === 0, `${path}: ${mode.toString(8)}`);
      assert.deepEqual([uid, gid], process.getuid?.() === 0 ? [0, 0] : [process.getuid?.(), process.getgid?.()], path);
      return (mode & 0o170000) === 0o100000 && (mode & 0o111) !== 0;
    });
    const others = executable.filter((path) => !/\/ld-linux[^/]*$|\.so[.0-9]*$/.test(path));
    assert.deepEqual(others, ['app/nlc.js', 'nodejs/bin/node']);
    assert.deepEqual(
      paths.filter((path) => /^(usr\/)?s?bin\//.test(path)),
      [],
    );
  }
});

test('machine code is that of the platform, and both platforms have the same libraries', () => {
  const libraries = architectures.map((architecture) => {
    const elf = pathsOf(architecture).filter((path) => headOf(join(rootOf(architecture), path)).startsWith('\x7fELF'));
    assert.ok(elf.includes('nodejs/bin/node') && elf.length > 6, elf.join(' '));
    for (const path of elf)
      assert.equal(headOf(join(rootOf(architecture), path)).charCodeAt(18), machines[architecture], path);
    return elf.map((path) => basename(path)).filter((name) => !name.startsWith('ld-linux'));
  });
  assert.deepEqual(libraries[0], libraries[1]);
});

/** The first bytes of a file; nothing for links and folders. */
function headOf(file: string): string {
  if (!lstatSync(file).isFile()) return '';
  const bytes = Buffer.alloc(20);
  const opened = openSync(file, 'r');
  readSync(opened, bytes);
  closeSync(opened);
  return bytes.toString('latin1');
}

test('SBOMs and provenance of each platform name its digest, every bundled package and every pinned package', () => {
  const pins = readPins();
  for (const architecture of architectures) {
    const [image] = layout.of(`linux/${architecture}`);
    const digest = image?.digest ?? '';
    const own = layout
      .of('unknown/unknown')
      .find(({ annotations }) => annotations?.['vnd.docker.reference.digest'] === digest);
    const manifest = layout.manifest(own ?? assert.fail('no statements'));
    assert.equal(manifest.subject?.digest, digest);
    const statements = manifest.layers.map((layer) => layout.statement(layer));
    const types = statements.map(({ predicateType }) => predicateType);
    assert.deepEqual(types, [
      'https://spdx.dev/Document',
      'https://cyclonedx.org/bom',
      'https://slsa.dev/provenance/v1',
    ]);
    for (const { subject } of statements)
      assert.deepEqual(subject[0]?.digest, { sha256: digest.slice('sha256:'.length) });
    const text = statements.map((statement) => JSON.stringify(statement.predicate));
    const debian = pins.debian.packages.filter(
      (one) => one.architecture === architecture || one.architecture === 'all',
    );
    for (const { sha256 } of debian)
      assert.ok(
        text.every((one) => one.includes(sha256)),
        sha256,
      );
    for (const one of text.slice(0, 2)) assert.match(one, /pkg:npm\/undici@8/);
  }
});

/** An address of a registry on loopback; the function stops it. */
async function startRegistry(): Promise<{ readonly address: string; readonly stop: () => void }> {
  const child = spawn(programs.crane, ['registry', 'serve', '--address=127.0.0.1:0'], {
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let printed = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => (printed += text));
  const port = await waitUntil('registry', { timeoutMs: 10_000 }, () => /serving on port (\d+)/.exec(printed)?.[1]);
  return { address: `127.0.0.1:${port}`, stop: () => void child.kill('SIGKILL') };
}

test('crane pushes the layout with both platforms, and the registry returns the same digest', async () => {
  const registry = await startRegistry();
  try {
    const name = `${registry.address}/node-lifecycle-controller:0.1.0`;
    const pushed = must(programs.crane, ['push', join(folder, 'out', 'image'), name]);
    assert.ok(pushed.trim().endsWith(layout.root.digest), pushed);
    assert.equal(must(programs.crane, ['digest', name]).trim(), layout.root.digest);
    assert.match(must(programs.crane, ['validate', '--remote', name]), /^PASS/);
    const pulled = join(folder, 'pulled');
    must(programs.crane, ['pull', '--format=oci', name, pulled]);
    assert.equal(new OciLayout(pulled).root.digest, layout.root.digest);
    const one = `${registry.address}/one:0.1.0`;
    must(programs.crane, ['push', join(folder, 'out', 'image.tar'), one]);
    assert.deepEqual(JSON.parse(must(programs.crane, ['config', one])), configOf('linux/amd64'));
  } finally {
    registry.stop();
  }
});

/** A root of this machine's platform, or why it cannot be entered. */
function enterable(): ImageRoot | string {
  const image = new ImageRoot(rootOf(ownArchitecture), configOf(`linux/${ownArchitecture}`).config);
  const { status, stderr, error } = image.run(['/nodejs/bin/node', '--version']);
  return status === 0 ? image : `the root file system cannot be entered on this machine: ${error?.message ?? stderr}`;
}

test('in a read-only root, user 65532 runs the program', (t) => {
  const image = enterable();
  if (typeof image === 'string') return t.skip(image);
  const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { version: string };
  assert.match(
    image.runEntrypoint(['--version']).stdout,
    new RegExp(`^nlc ${version} \\(Node.js v${readPins().node.version}, `),
  );
  const probe = `const { accessSync, constants, readdirSync } = require('node:fs');
    const writable = ['/', '/app', '/etc', '/run', '/var'].filter((path) => { try { accessSync(path, constants.W_OK); return true; } catch { return false; } });
    require('node:dns').lookup('localhost', (error, address) => console.log(JSON.stringify([process.getuid(), process.getgroups(), writable, address, String(new Date(0))])));`;
  const zoned = image.run(['/nodejs/bin/node', '-e', probe]);
  assert.deepEqual(JSON.parse(zoned.stdout).slice(0, 4), [65532, [65532], [], '127.0.0.1'], zoned.stderr);
});

interface Ended {
  readonly code: number | null;
  readonly printed: string;
}

function startDemo(): Promise<Ended> | undefined {
  const image = enterable();
  if (typeof image === 'string') return undefined;
  const { command, args } = image.command(['demo', '--once', '--output=json']);
  const child = spawn(command, args, { env: image.environment(), stdio: ['ignore', 'pipe', 'inherit'] });
  let printed = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => (printed += text));
  return new Promise((resolve) => child.once('close', (code) => resolve({ code, printed })));
}

interface Container {
  readonly args: readonly string[];
  readonly volumeMounts: readonly { readonly name: string; readonly mountPath: string }[];
  readonly securityContext: Readonly<Record<string, unknown>>;
}

/** Appended to the arguments of the chart, so that the pages are on free ports of loopback. */
const pages = ['--metrics-bind-address=127.0.0.1:0', '--health-probe-bind-address=127.0.0.1:0'];

test('the pod of the chart: with its arguments, config file and service account it leads on a real kube-apiserver', async (t) => {
  const image = enterable();
  if (typeof image === 'string') return t.skip(image);
  for (const needed of [findControlPlane(), findTools()]) if ('missing' in needed) return t.skip(needed.missing);
  const stand = await ReleaseStand.start();
  try {
    const objects = renderChart({ values: 'config: { logFormat: json }' });
    await stand.apply(objects);
    const { spec } = pick(objects, 'Deployment') as unknown as {
      spec: { template: { spec: { containers: Container[]; serviceAccountName: string } } };
    };
    const [container] = spec.template.spec.containers;
    assert.ok(container !== undefined);
    assert.equal(container.securityContext['readOnlyRootFilesystem'], true);
    await mountVolumes(image, stand, objects, { container, account: spec.template.spec.serviceAccountName });
    const { hostname, port } = new URL(stand.plane.url);
    const { command, args } = image.command([...container.args, ...pages]);
    const env = image.environment({ KUBERNETES_SERVICE_HOST: hostname, KUBERNETES_SERVICE_PORT: port });
    const child = spawn(command, args, { env, stdio: ['ignore', 'ignore', 'pipe'] });
    let printed = '';
    child.stderr.setEncoding('utf8').on('data', (text: string) => (printed += text));
    await waitUntil('leading', { timeoutMs: 30_000 }, () => printed.includes('"leading"')).catch(() =>
      assert.fail(printed),
    );
    const ended = new Promise((resolve) => child.once('exit', (code, signal) => resolve({ code, signal })));
    child.kill('SIGTERM');
    assert.deepEqual(await ended, { code: 0, signal: null }, printed);
  } finally {
    await stand.stop();
  }
});

async function mountVolumes(
  image: ImageRoot,
  stand: ReleaseStand,
  objects: readonly KubeManifest[],
  { container, account }: { readonly container: Container; readonly account: string },
): Promise<void> {
  const { data } = pick(objects, 'ConfigMap') as KubeManifest & { data: Record<string, string> };
  assert.deepEqual(
    container.volumeMounts.map(({ name }) => name),
    ['config'],
  );
  image.mount(container.volumeMounts[0]?.mountPath ?? '', data);
  const path = `/api/v1/namespaces/${namespace}/serviceaccounts/${account}/token`;
  const { status } = await stand.plane.client().must<{ status: { token: string } }>('POST', path, { spec: {} });
  image.mount('/var/run/secrets/kubernetes.io/serviceaccount', {
    token: status.token,
    namespace,
    'ca.crt': readFileSync(stand.plane.caFile, 'utf8'),
  });
}

test('in a read-only root with a writable /tmp, user 65532 completes the demo', async (t) => {
  if (demo === undefined) return t.skip('the root file system cannot be entered on this machine');
  const { code, printed } = await demo;
  assert.equal(code, 0, printed);
  const end = JSON.parse(printed.trim().split('\n').at(-1) ?? '') as { type: string; failed: readonly unknown[] };
  assert.deepEqual([end.type, end.failed], ['end', []]);
});
