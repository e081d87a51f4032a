// The programs of the control plane for tests, from which Go module they are built, and the folder of the built programs. The
// name of the folder is a hash of all inputs of the build, so that a changed version is built into another folder.
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { buildsFolder } from '../../src/cli/simulation/programs/program-finder.ts';
import { defaultVersion, type KubernetesVersion, selectedVersion } from './kubernetes-version.ts';

export const programs = [
  'kubectl',
  'etcd',
  'kube-apiserver',
  'kube-controller-manager',
  'kube-scheduler',
  'kubemark',
] as const;
export type Program = (typeof programs)[number];

/** Those that are built for a version. The source of kubemark is that of the default version only. */
function programsOf(version: KubernetesVersion): readonly Program[] {
  return version === defaultVersion ? programs : programs.filter((program) => program !== 'kubemark');
}

/** The module of the default version, and the main packages of all versions. */
const sharedFolder = import.meta.dirname;
const versionPackage = 'k8s.io/component-base/version';

/** How the programs of one Kubernetes version are built. */
export interface ControlPlaneBuild {
  readonly version: KubernetesVersion;
  readonly programs: readonly Program[];
  /** As the programs report it, such as `v1.37.2`: the version that go.mod requires. */
  readonly gitVersion: string;
  /** Such as `3.7.0`. */
  readonly etcdVersion: string;
  /** Folder of go.mod and go.sum. */
  readonly moduleFolder: string;
  /** Folder of the built programs. */
  readonly cacheFolder: string;
}

/** Throws an error if the go.mod of that version is incomplete. */
export function controlPlaneBuild(version: KubernetesVersion = selectedVersion()): ControlPlaneBuild {
  const isDefault = version === defaultVersion;
  const moduleFolder = isDefault ? sharedFolder : join(sharedFolder, 'versions', version);
  const gitVersion = requiredVersion(moduleFolder, 'k8s.io/kubernetes');
  const etcdVersion = requiredVersion(moduleFolder, 'go.etcd.io/etcd/server/v3').slice(1);
  // Other versions are one folder deeper, where the commands that use the newest build do not find them.
  const builds = isDefault ? buildsFolder() : join(buildsFolder(), version);
  const built = programsOf(version);
  const cacheFolder = join(builds, buildHash(moduleFolder, gitVersion, built));
  return { version, programs: built, gitVersion, etcdVersion, moduleFolder, cacheFolder };
}

/** The working directory and the arguments of `go` that build all programs into a folder, which must exist. */
export function goBuildCommand(
  { moduleFolder, gitVersion, programs }: ControlPlaneBuild,
  folder: string,
): { readonly cwd: string; readonly args: readonly string[] } {
  const module = moduleFolder === sharedFolder ? [] : [`-modfile=${join(moduleFolder, 'go.mod')}`];
  const packages = programs.map((program) => `./cmd/${program}`);
  return { cwd: sharedFolder, args: ['build', '-o', folder, ...buildFlags(gitVersion), ...module, ...packages] };
}

/** Flags of `go build`. Without the linker flags the version would be v0.0.0. */
function buildFlags(gitVersion: string): readonly string[] {
  const [major, minor] = gitVersion.slice(1).split('.');
  const linkerFlags = [
    '-s -w',
    `-X ${versionPackage}.gitVersion=${gitVersion}`,
    `-X ${versionPackage}.gitMajor=${major}`,
    `-X ${versionPackage}.gitMinor=${minor}`,
  ].join(' ');
  return ['-trimpath', `-ldflags=${linkerFlags}`];
}

function buildHash(moduleFolder: string, gitVersion: string, built: readonly Program[]): string {
  const flags = buildFlags(gitVersion).join(' ');
  const hash = createHash('sha256').update(`${process.platform} ${process.arch} ${flags}`);
  const mains = built.map((program) => join(sharedFolder, 'cmd', program, 'main.go'));
  for (const file of [join(moduleFolder, 'go.mod'), join(moduleFolder, 'go.sum'), ...mains])
    hash.update(readFileSync(file));
  return hash.digest('hex').slice(0, 16);
}

function requiredVersion(moduleFolder: string, module: string): string {
  const file = join(moduleFolder, 'go.mod');
  const words = readFileSync(file, 'utf8')
    .split('\n')
    .map((line) => line.trim().split(' '));
  const version = words.find(([name]) => name === module)?.[1];
  if (version === undefined) throw new Error(`${file} does not require ${module}`);
  return version;
}
