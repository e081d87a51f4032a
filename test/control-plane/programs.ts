// What the control plane for tests is made of, and where its programs lie once built. The folder's name is a hash of
// everything the build reads, so a changed version builds anew and never mixes with an old one.
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';

/** The programs, in the order they are built: kubectl first, it is useful before the rest is there. */
export const programs = ['kubectl', 'etcd', 'kube-apiserver', 'kube-controller-manager', 'kubemark'] as const;
export type Program = (typeof programs)[number];

export const moduleFolder = import.meta.dirname;

/** What kube-apiserver and kubectl answer when asked for their version: the one that go.mod requires. */
export const gitVersion: string = requiredVersion('k8s.io/kubernetes');

const versionPackage = 'k8s.io/component-base/version';
const [major, minor] = gitVersion.slice(1).split('.');
const linkerFlags = [
  '-s -w',
  `-X ${versionPackage}.gitVersion=${gitVersion}`,
  `-X ${versionPackage}.gitMajor=${major}`,
  `-X ${versionPackage}.gitMinor=${minor}`,
].join(' ');

/** Arguments of `go build`, without the output and the package. Unstamped programs would call themselves v0.0.0. */
export const buildFlags: readonly string[] = ['-trimpath', `-ldflags=${linkerFlags}`];

/** The folder that holds, or will hold, the programs built from this tree. */
export function cacheFolder(): string {
  const root = process.env['XDG_CACHE_HOME'] || join(homedir(), '.cache');
  return join(root, 'node-lifecycle-controller', 'control-plane', buildHash());
}

function buildHash(): string {
  const hash = createHash('sha256').update(`${process.platform} ${process.arch} ${buildFlags.join(' ')}`);
  const mains = programs.map((program) => join('cmd', program, 'main.go'));
  for (const file of ['go.mod', 'go.sum', ...mains]) hash.update(readFileSync(join(moduleFolder, file)));
  return hash.digest('hex').slice(0, 16);
}

function requiredVersion(module: string): string {
  const goMod = readFileSync(join(moduleFolder, 'go.mod'), 'utf8');
  const words = goMod.split('\n').map((line) => line.trim().split(' '));
  const version = words.find(([name]) => name === module)?.[1];
  if (version === undefined) throw new Error(`go.mod does not require ${module}`);
  return version;
}
