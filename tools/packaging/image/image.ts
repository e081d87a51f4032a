// `npm run image [-- --out=FOLDER --source=URL]`: builds the program and writes its image for linux/amd64 and linux/arm64 as an OCI
// layout (`image`) and as one file (`image.tar`), without a container engine. Needs Go, dpkg-deb, npm, and at the first time the
// packages' registries. Exit codes: 0 success, 1 failure, 3 no programs to build with, 4 packages not reachable.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { findReleasePrograms } from '../release-programs.ts';
import { debianLayer, type Layer, nodeLayer, programLayer } from './build-layers.ts';
import { buildProvenance } from './build-provenance.ts';
import { npmSbom } from '../npm-sbom.ts';
import { buildCycloneDx, buildSpdx } from './build-sbom.ts';
import { listImagePackages } from './image-packages.ts';
import { parseImageConfig } from './parse-containerfile.ts';
import { type Architecture, architectures, type PinnedInputs, readPins } from './pinned-inputs.ts';
import { readSource } from './read-source.ts';

const root = join(import.meta.dirname, '..', '..', '..');
/** What the base in the Containerfile sets. */
const baseEnvironment = [
  'PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin',
  'SSL_CERT_FILE=/etc/ssl/certs/ca-certificates.crt',
];

interface Written {
  readonly digest: string;
  readonly platforms: readonly {
    readonly platform: string;
    readonly digest: string;
    readonly layers: readonly number[];
  }[];
}

interface Build {
  readonly pins: PinnedInputs;
  readonly source: ReturnType<typeof readSource>;
  readonly version: string;
  /** Of the program, in the image. */
  readonly program: Layer;
  readonly temporary: string;
}

process.exitCode = main();

function main(): number {
  const { values } = parseArgs({
    options: { out: { type: 'string', default: join(root, 'dist') }, source: { type: 'string' } },
  });
  const fetched = runScript('fetch-inputs.ts');
  if (fetched !== 0) return fetched;
  const built = runScript('../build-modules.ts');
  if (built !== 0) return built;
  const temporary = mkdtempSync(join(tmpdir(), 'nlc-image-'));
  try {
    writeImage(resolve(values.out), temporary, values.source);
    return 0;
  } finally {
    rmSync(temporary, { recursive: true, force: true });
  }
}

function writeImage(out: string, temporary: string, url: string | undefined): void {
  const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { version: string };
  const config = parseImageConfig(readFileSync(join(root, 'Containerfile'), 'utf8'));
  const dist = join(temporary, 'dist');
  must(process.execPath, [join(root, 'tools', 'bundle', 'build.ts'), dist]);
  const source = readSource(root, url);
  const program = programLayer(dist, config.WorkingDir.slice(1), version);
  const build: Build = { pins: readPins(), source, version, program, temporary };
  const annotations = { ...config.Labels, ...describeSource(build) };
  const description = {
    Layout: join(out, 'image'),
    Archive: join(out, 'image.tar'),
    Name: `node-lifecycle-controller:${version}`,
    Created: source.created.toISOString(),
    Annotations: annotations,
    Config: { ...config, Env: [...baseEnvironment, ...config.Env], Labels: annotations },
    Platforms: architectures.map((architecture) => describePlatform(build, architecture, out)),
  };
  mkdirSync(out, { recursive: true });
  for (const old of [description.Layout, description.Archive]) rmSync(old, { recursive: true, force: true });
  report(out, JSON.parse(must(writer(), [], JSON.stringify(description))) as Written);
}

/** Annotations of the OCI specification that depend on the commit. */
function describeSource({ source, version }: Build): Readonly<Record<string, string>> {
  const { commit, changed, url, created } = source;
  return {
    'org.opencontainers.image.version': version,
    'org.opencontainers.image.created': created.toISOString().replace('.000Z', 'Z'),
    ...(commit === undefined ? {} : { 'org.opencontainers.image.revision': changed ? `${commit}-changed` : commit }),
    ...(url === undefined ? {} : { 'org.opencontainers.image.source': url }),
  };
}

function describePlatform(build: Build, architecture: Architecture, out: string): object {
  const { pins, temporary, program } = build;
  const folder = join(temporary, architecture);
  const statements = Object.entries(describeContents(build, architecture));
  const files = join(out, 'image-statements');
  mkdirSync(files, { recursive: true });
  for (const [name, { Predicate }] of statements)
    writeFileSync(join(files, `linux-${architecture}.${name}.json`), `${JSON.stringify(Predicate, undefined, 2)}\n`);
  return {
    OS: 'linux',
    Architecture: architecture,
    Layers: [debianLayer(pins, architecture, folder), nodeLayer(pins, architecture, folder), program],
    Attestations: statements.map(([, statement]) => statement),
  };
}

/** The statements about the image of a platform, by the name of their file. */
function describeContents(
  { pins, source }: Build,
  architecture: Architecture,
): Readonly<Record<string, { readonly PredicateType: string; readonly Predicate: object }>> {
  const packages = listImagePackages(pins, architecture);
  const context = { created: source.created.toISOString().replace('.000Z', 'Z'), packages };
  const lock = createHash('sha256')
    .update(readFileSync(join(root, 'package-lock.json')))
    .digest('hex');
  return {
    'sbom.spdx': { PredicateType: 'https://spdx.dev/Document', Predicate: buildSpdx(npmSbom('spdx'), context) },
    'sbom.cdx': {
      PredicateType: 'https://cyclonedx.org/bom',
      Predicate: buildCycloneDx(npmSbom('cyclonedx'), context),
    },
    provenance: { PredicateType: 'https://slsa.dev/provenance/v1', Predicate: buildProvenance(source, packages, lock) },
  };
}

function report(out: string, { digest, platforms }: Written): void {
  for (const { platform, digest: own, layers } of platforms) {
    const megabytes = layers.map((bytes) => (bytes / 1e6).toFixed(1));
    const sum = (layers.reduce((total, bytes) => total + bytes, 0) / 1e6).toFixed(1);
    console.log(
      `${platform}: ${sum} MB compressed (Debian ${megabytes[0]}, Node.js ${megabytes[1]}, program ${megabytes[2]}) ${own}`,
    );
  }
  console.log(`${join(out, 'image')}, ${join(out, 'image.tar')}: ${digest}`);
}

function writer(): string {
  const found = findReleasePrograms();
  if ('missing' in found) throw new Error(found.missing);
  return found['write-image'];
}

function runScript(path: string): number {
  const { status } = spawnSync(process.execPath, [join(import.meta.dirname, path)], { stdio: 'inherit' });
  return status ?? 1;
}

/** The standard output; throws with the standard error. */
function must(command: string, args: readonly string[], input = ''): string {
  const { status, stdout, stderr, error } = spawnSync(command, args, {
    cwd: root,
    input,
    encoding: 'utf8',
    maxBuffer: 64 << 20,
  });
  if (error !== undefined) throw error;
  if (status !== 0) throw new Error(`${command} ${args.join(' ')}: ${stderr}`);
  return stdout;
}
