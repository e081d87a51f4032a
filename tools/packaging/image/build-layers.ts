// The layers of the image: Debian's files, Node.js, and the program. The first two change with their pins only.
import { spawnSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, readlinkSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { cachedDebian, cachedNode, integrityOf, verifyIntegrity } from './cached-inputs.ts';
import { type Architecture, type DebianPackage, debianPackagesOf, type PinnedInputs } from './pinned-inputs.ts';
import { certificates, isKept } from './select-debian-files.ts';

/** A file with the content of `File` or `Text`, a symbolic link to `Link`, or a folder. The path is relative to the root. */
interface Entry {
  readonly Path: string;
  readonly Mode: number;
  readonly File?: string;
  readonly Text?: string;
  readonly Link?: string;
}

export interface Layer {
  readonly Comment: string;
  readonly Entries: readonly Entry[];
}

const userId = 65532;
const systemFiles: Readonly<Record<string, string>> = {
  'etc/passwd': `root:x:0:0:root:/root:/sbin/nologin\nnonroot:x:${userId}:${userId}:nonroot:/nonexistent:/sbin/nologin\n`,
  'etc/group': `root:x:0:\nnonroot:x:${userId}:\n`,
  'etc/nsswitch.conf': 'passwd: files\ngroup: files\nhosts: files dns\n',
};
/** Where the runtime mounts file systems; it can create no folder in a read-only root. */
const mountPoints = ['dev', 'etc', 'proc', 'run', 'sys', 'tmp', 'var/run/secrets'];

/** Unpacks the packages of an architecture into the folder. */
export function debianLayer(pins: PinnedInputs, architecture: Architecture, folder: string): Layer {
  const packages = debianPackagesOf(pins, architecture);
  const unpacked = packages.map((one) => join(unpackDebian(one, folder), 'root'));
  const files = unpacked.flatMap((root) => entriesOf(root, isKept));
  const own = Object.entries(systemFiles).map(([Path, Text]) => ({ Path, Mode: 0o644, Text }));
  const folders = mountPoints.map((Path) => ({ Path, Mode: 0o755 }));
  const Entries = [...files, ...own, ...folders, certificateBundle(unpacked), ...statusFiles(packages, folder)];
  return { Comment: `Debian ${pins.debian.suite}: ${packages.map(({ name }) => name).join(', ')}`, Entries };
}

/** Unpacks the runtime of an architecture into the folder. */
export function nodeLayer({ node }: PinnedInputs, architecture: Architecture, folder: string): Layer {
  const file = cachedNode(node[architecture]);
  verifyIntegrity(file, node[architecture].integrity);
  const root = join(folder, 'node');
  mkdirSync(root, { recursive: true });
  run('tar', ['-xzf', file, '-C', root, '--strip-components=1', 'package/bin/node', 'package/LICENSE']);
  const Entries = [
    { Path: 'nodejs/bin/node', Mode: 0o755, File: join(root, 'bin', 'node') },
    { Path: 'nodejs/LICENSE', Mode: 0o644, File: join(root, 'LICENSE') },
  ];
  return { Comment: `Node.js ${node.version}`, Entries };
}

/** All files of a build in this folder of the image, without a leading slash. */
export function programLayer(dist: string, target: string, version: string): Layer {
  const Entries = entriesOf(dist, () => true).map((entry) => ({ ...entry, Path: `${target}/${entry.Path}` }));
  return { Comment: `node-lifecycle-controller ${version}`, Entries };
}

/** The files and links below a folder for whose path the predicate holds, sorted. */
function entriesOf(root: string, isWanted: (path: string) => boolean): readonly Entry[] {
  const found = readdirSync(root, { recursive: true, withFileTypes: true }).filter((entry) => !entry.isDirectory());
  const paths = found.map((entry) => join(entry.parentPath, entry.name).slice(root.length + 1)).filter(isWanted);
  const links = new Set(
    found.filter((entry) => entry.isSymbolicLink()).map(({ parentPath, name }) => join(parentPath, name)),
  );
  return paths.sort().map((Path) => {
    const file = join(root, Path);
    if (links.has(file)) return { Path, Mode: 0o777, Link: readlinkSync(file) };
    return { Path, Mode: (statSync(file).mode & 0o111) === 0 ? 0o644 : 0o755, File: file };
  });
}

function unpackDebian(one: DebianPackage, folder: string): string {
  const file = cachedDebian(one);
  verifyIntegrity(file, integrityOf(one));
  const target = join(folder, one.name);
  mkdirSync(target, { recursive: true });
  run('dpkg-deb', ['--extract', file, join(target, 'root')]);
  run('dpkg-deb', ['--control', file, join(target, 'control')]);
  return target;
}

/** All certificates in one file, where OpenSSL's programs look for it: what update-ca-certificates would write. */
function certificateBundle(roots: readonly string[]): Entry {
  const files = roots.flatMap((root) => entriesOf(root, (path) => certificates.test(path)));
  const Text = files.map(({ File = '' }) => readFileSync(File, 'utf8').trimEnd()).join('\n');
  return { Path: 'etc/ssl/certs/ca-certificates.crt', Mode: 0o644, Text: `${Text}\n` };
}

/** Name and version of each package, where scanners of images without a package manager look for them. */
function statusFiles(packages: readonly DebianPackage[], folder: string): readonly Entry[] {
  return packages.map(({ name }) => ({
    Path: `var/lib/dpkg/status.d/${name}`,
    Mode: 0o644,
    File: join(folder, name, 'control', 'control'),
  }));
}

function run(command: string, args: readonly string[]): void {
  const { status, stderr, error } = spawnSync(command, args, { encoding: 'utf8' });
  if (error !== undefined) throw error;
  if (status !== 0) throw new Error(`${command} ${args.join(' ')}: ${stderr}`);
}
