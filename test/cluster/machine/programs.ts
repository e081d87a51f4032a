// The programs of a real cluster, built from their published Go modules into a cache by version.
import { createHash } from 'node:crypto';
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { buildsFolder } from '../../../src/cli/simulation/programs/program-finder.ts';
import { controlPlaneBuild } from '../../../tools/control-plane/programs.ts';
import { findTools } from '../../../tools/packaging/programs.ts';
import { runProgram } from './run-program.ts';

const versions = { containerd: 'v2.3.7', runc: 'v1.4.3', plugins: 'v1.9.1', helm: 'v3.22.0' } as const;
const imagesFolder = join(import.meta.dirname, '..', 'images');
const imageNames = ['pause', 'workload'] as const;

/** One program: its place in the folder, and the arguments of `go` that build it. */
interface Recipe {
  readonly place: string;
  readonly args: readonly string[];
  readonly cwd?: string;
  /** runc uses libseccomp. */
  readonly cgo?: boolean;
}

/** Builds what is missing, and returns the folder of all programs. `say`: what takes minutes. */
export async function buildPrograms(say: (text: string) => void): Promise<string> {
  const { cacheFolder, programs } = controlPlaneBuild();
  const folder = join(dirname(buildsFolder()), 'real-cluster', hashOf(cacheFolder));
  mkdirSync(join(folder, 'cni'), { recursive: true });
  for (const program of programs) link(join(cacheFolder, program), join(folder, program));
  linkHelm(folder);
  for (const recipe of [...ofModules(), ...ofImages()]) await build(recipe, folder, say);
  await buildKubernetes(folder, say);
  return folder;
}

function hashOf(controlPlane: string): string {
  const hash = createHash('sha256').update(`${JSON.stringify(versions)} ${controlPlane} ${process.arch}`);
  for (const name of imageNames) hash.update(readFileSync(join(imagesFolder, name, 'main.go')));
  return hash.digest('hex').slice(0, 16);
}

function link(target: string, place: string): void {
  if (!existsSync(place)) symlinkSync(target, place);
}

/** The packaging tools have the same version of helm, whose build takes a minute. */
function linkHelm(folder: string): void {
  const found = findTools();
  if (!('missing' in found)) link(join(found.dir, 'helm'), join(folder, 'helm'));
}

function ofModules(): readonly Recipe[] {
  const of = (place: string, module: string, version: string, flags = '-s -w'): Recipe => {
    return { place, args: ['install', '-trimpath', `-ldflags=${flags}`, `${module}@${version}`] };
  };
  const containerd = 'github.com/containerd/containerd/v2';
  const stamped = `-s -w -X ${containerd}/version.Version=${versions.containerd}`;
  const runc = of(
    'runc',
    'github.com/opencontainers/runc',
    versions.runc,
    `-s -w -X main.version=${versions.runc.slice(1)}`,
  );
  return [
    ...['containerd', 'containerd-shim-runc-v2', 'ctr'].map((name) =>
      of(name, `${containerd}/cmd/${name}`, versions.containerd, stamped),
    ),
    { ...runc, args: ['install', '-tags', 'seccomp', ...runc.args.slice(1)], cgo: true },
    ...['main/bridge', 'main/loopback', 'ipam/host-local'].map((path) =>
      of(`cni/${path.split('/')[1]}`, `github.com/containernetworking/plugins/plugins/${path}`, versions.plugins),
    ),
    of('helm', 'helm.sh/helm/v3/cmd/helm', versions.helm),
  ];
}

function ofImages(): readonly Recipe[] {
  return imageNames.map((name) => {
    return { place: name, cwd: join(imagesFolder, name), args: ['build', '-trimpath', '-ldflags=-s -w'] };
  });
}

async function build(
  { place, args, cwd, cgo = false }: Recipe,
  folder: string,
  say: (text: string) => void,
): Promise<void> {
  const file = join(folder, place);
  if (existsSync(file)) return;
  say(`building ${place}`);
  const unfinished = mkdtempSync(join(folder, 'unfinished-'));
  const env = { ...process.env, CGO_ENABLED: cgo ? '1' : '0', GOBIN: unfinished, GOFLAGS: '' };
  const built = join(unfinished, place.split('/').at(-1) ?? place);
  const [verb = '', ...rest] = args;
  const out = verb === 'build' ? [verb, '-o', built, ...rest, '.'] : args;
  await runProgram('go', out, { env, ...(cwd === undefined ? {} : { cwd }) });
  renameSync(built, file);
  rmSync(unfinished, { recursive: true, force: true });
}

const underWay = new Map<string, Promise<string>>();

/**
 * Builds a program that is missing, and returns its file: once, for all clusters of this process. Another process may build it at the
 * same time: it is moved into its place when it is complete.
 */
export async function buildOnce(file: string, build: (unfinished: string) => Promise<unknown>): Promise<string> {
  const building = underWay.get(file) ?? buildMissing(file, build).finally(() => underWay.delete(file));
  underWay.set(file, building);
  return building;
}

async function buildMissing(file: string, build: (unfinished: string) => Promise<unknown>): Promise<string> {
  if (existsSync(file)) return file;
  const unfinished = `${file}.${process.pid}.new`;
  await build(unfinished);
  renameSync(unfinished, file);
  return file;
}

/** kubelet and kube-proxy: of the module of the control plane, whose go.mod does not name all that they need. */
async function buildKubernetes(folder: string, say: (text: string) => void): Promise<void> {
  const { gitVersion, moduleFolder } = controlPlaneBuild();
  const [major, minor] = gitVersion.slice(1).split('.');
  const version = 'k8s.io/component-base/version';
  const stamp = `-X ${version}.gitVersion=${gitVersion} -X ${version}.gitMajor=${major} -X ${version}.gitMinor=${minor}`;
  const module = mkdtempSync(join(tmpdir(), 'kubelet-'));
  for (const file of ['go.mod', 'go.sum']) copyFileSync(join(moduleFolder, file), join(module, file));
  for (const program of ['kubelet', 'kube-proxy']) {
    await buildOnce(join(folder, program), async (unfinished) => {
      say(`building ${program} ${gitVersion}, which takes minutes`);
      const args = ['build', '-mod=mod', '-trimpath', `-ldflags=-s -w ${stamp}`, '-o', unfinished];
      const env = { ...process.env, CGO_ENABLED: '0' };
      await runProgram('go', [...args, `k8s.io/kubernetes/cmd/${program}`], { cwd: module, env });
    });
  }
  rmSync(module, { recursive: true, force: true });
}
