// Builds Kubernetes' own tests into the cache folder: copies them from the Go module, edits them, compiles the test
// binaries and ginkgo, which runs them in parallel. A second build finds them and does nothing. Nothing of the tests is in
// this repository.
import { spawn, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { buildsFolder } from '../../src/cli/simulation/programs/program-finder.ts';
import { type CopiedTests, copiedTests, editSource } from './edit-source.ts';

/** The release whose tests run, as go.mod requires it. */
export const release = 'v1.37.2';
const kubernetes = 'k8s.io/kubernetes';
const moduleFolder = import.meta.dirname;
const stillBuildingMs = 30_000;
const versionPackage = 'k8s.io/component-base/version';
const [major, minor] = release.slice(1).split('.');
const linkerFlags = `-s -w -X ${versionPackage}.gitVersion=${release} -X ${versionPackage}.gitMajor=${major} -X ${versionPackage}.gitMinor=${minor}`;
/** The same flags as those of the control plane, so that Go's build cache is shared. */
const buildFlags: readonly string[] = ['-trimpath', `-ldflags=${linkerFlags}`];
const copiedFromHere = ['go.mod', 'go.sum', 'replacements'];

export const noGoAdvice = `no Go on the PATH; the tests of Kubernetes cannot be built.
  Install Go 1.26 or newer: https://go.dev/dl/, or \`golang\` of the distribution.`;

/** The programs of one build. */
export interface UpstreamTests {
  readonly folder: string;
  readonly ginkgo: string;
  readonly e2e: string;
  /** Test binaries of integration tests, by their folder in Kubernetes. */
  readonly integration: ReadonlyMap<string, string>;
}

type Say = (line: string) => void;

export function hasGo(): boolean {
  return spawnSync('go', ['version'], { stdio: 'ignore' }).status === 0;
}

/** Builds what is not built yet. Throws an error with the failed step. `say` gets progress lines. */
export async function buildUpstreamTests(say: Say): Promise<UpstreamTests> {
  const folder = join(dirname(buildsFolder()), 'upstream', buildHash());
  if (existsSync(folder)) return testsIn(folder);
  mkdirSync(dirname(folder), { recursive: true });
  const unfinished = mkdtempSync(`${folder}.`);
  try {
    say(`building into ${folder}; a cold build takes minutes and about 4 GB for Go's caches`);
    for (const name of copiedFromHere) cpSync(join(moduleFolder, name), join(unfinished, name), { recursive: true });
    const source = await moduleSource(unfinished, say);
    for (const tests of copiedTests) copyTests(source, unfinished, tests);
    for (const step of stepsIn(unfinished)) await runStep(step, unfinished, say);
    // Another process may have built the same meanwhile.
    if (!existsSync(folder)) renameSync(unfinished, folder);
    return testsIn(folder);
  } finally {
    rmSync(unfinished, { recursive: true, force: true });
  }
}

function testsIn(folder: string): UpstreamTests {
  const bin = (name: string): string => join(folder, 'bin', name);
  const integration = new Map(copiedTests.map(({ folder: tests, binary }) => [tests, bin(binary)]));
  return { folder, ginkgo: bin('ginkgo'), e2e: bin('e2e.test'), integration };
}

function buildHash(): string {
  const hash = createHash('sha256').update(`${process.platform} ${process.arch} ${buildFlags.join(' ')}`);
  for (const file of inputFiles()) hash.update(file).update(readFileSync(join(moduleFolder, file)));
  return hash.digest('hex').slice(0, 16);
}

/** All files that a build depends on; the programs here among them, because they edit the tests. */
function inputFiles(): readonly string[] {
  return readdirSync(moduleFolder, { recursive: true, encoding: 'utf8' })
    .filter((name) => /\.(?:go|mod|sum|ts)$/.test(name))
    .toSorted();
}

/** Downloads the module if it is not in Go's cache, and returns its folder. */
async function moduleSource(folder: string, say: Say): Promise<string> {
  await runStep({ what: `sources of ${kubernetes} ${release}`, args: ['mod', 'download', kubernetes] }, folder, say);
  const listed = spawnSync('go', ['list', '-m', '-f', '{{.Dir}}', kubernetes], { cwd: folder, env: goEnv() });
  if (listed.status !== 0) throw new Error(`go list -m ${kubernetes}: ${listed.stderr.toString()}`);
  return listed.stdout.toString().trim();
}

function copyTests(source: string, folder: string, tests: CopiedTests): void {
  const used = new Set<CopiedTests['edits'][number]>();
  const to = join(folder, tests.folder);
  mkdirSync(to, { recursive: true });
  for (const name of readdirSync(join(source, tests.folder)).filter((file) => file.endsWith('.go'))) {
    const text = readFileSync(join(source, tests.folder, name), 'utf8');
    writeFileSync(join(to, name), editSource(text, tests.edits, used));
  }
  const unused = tests.edits.filter((edit) => !used.has(edit));
  if (unused.length > 0)
    throw new Error(`${tests.folder}: no text to edit for: ${unused.map(({ why }) => why).join('; ')}`);
}

interface Step {
  readonly what: string;
  readonly args: readonly string[];
}

function stepsIn(folder: string): readonly Step[] {
  const bin = (name: string): string => join(folder, 'bin', name);
  const test = (binary: string, tests: string): Step => ({
    what: binary,
    args: ['test', '-c', ...buildFlags, '-o', bin(binary), tests],
  });
  return [
    ...copiedTests.map(({ folder: tests, binary }) => test(binary, `./${tests}`)),
    { what: 'ginkgo', args: ['build', ...buildFlags, '-o', bin('ginkgo'), 'github.com/onsi/ginkgo/v2/ginkgo'] },
    test('e2e.test', `${kubernetes}/test/e2e`),
  ];
}

async function runStep({ what, args }: Step, folder: string, say: Say): Promise<void> {
  const startedMs = performance.now();
  const elapsed = (): string => `${Math.round((performance.now() - startedMs) / 1_000)} s`;
  say(`${what} ...`);
  const alive = setInterval(() => say(`${what}: still building, ${elapsed()}`), stillBuildingMs);
  const code = await runGo(args, folder).finally(() => clearInterval(alive));
  if (code !== 0) throw new Error(`${what}: go ${args[0]} exited with ${code} after ${elapsed()}`);
  say(`${what}: done in ${elapsed()}`);
}

function runGo(args: readonly string[], folder: string): Promise<number | string> {
  const go = spawn('go', args, { cwd: folder, env: goEnv(), stdio: ['ignore', 'inherit', 'inherit'] });
  return new Promise((resolve, reject) => {
    go.once('error', reject);
    go.once('close', (code, signal) => resolve(code ?? signal ?? 1));
  });
}

function goEnv(): NodeJS.ProcessEnv {
  return { ...process.env, CGO_ENABLED: '0', GOWORK: 'off' };
}
