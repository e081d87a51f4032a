// The programs of the control plane for tests, and the folder of the built programs. The name of the folder is a hash of
// all inputs of the build, so that a changed version is built into another folder.
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { buildsFolder } from '../../src/cli/programs/program-finder.ts';

/** The programs in build order: kubectl first, because it is useful without the others. */
export const programs = [
  'kubectl',
  'etcd',
  'kube-apiserver',
  'kube-controller-manager',
  'kube-scheduler',
  'kubemark',
] as const;
export type Program = (typeof programs)[number];

export const moduleFolder = import.meta.dirname;

/** The version of kube-apiserver and kubectl: the one that go.mod requires. */
const gitVersion: string = requiredVersion('k8s.io/kubernetes');

const versionPackage = 'k8s.io/component-base/version';
const [major, minor] = gitVersion.slice(1).split('.');
const linkerFlags = [
  '-s -w',
  `-X ${versionPackage}.gitVersion=${gitVersion}`,
  `-X ${versionPackage}.gitMajor=${major}`,
  `-X ${versionPackage}.gitMinor=${minor}`,
].join(' ');

/** Arguments of `go build`, without output and package. Without the linker flags the version would be v0.0.0. */
export const buildFlags: readonly string[] = ['-trimpath', `-ldflags=${linkerFlags}`];

/** The folder of the programs built from this tree. */
export function cacheFolder(): string {
  return join(buildsFolder(), buildHash());
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
