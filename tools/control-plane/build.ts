// Builds the control plane for tests: `npm run control-plane [-- --kubernetes VERSION]`. The programs are built from the
// published Go modules in go.mod; a second run finds them and does nothing. Exit codes: 0 success, 1 build failure, 2 usage
// error or KUBEBUILDER_ASSETS is set but incomplete, 3 no Go (0 with --optional).
import { spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync } from 'node:fs';
import { dirname } from 'node:path';
import { assetsFolder } from '../../src/cli/simulation/programs/program-finder.ts';
import { findControlPlane } from './binaries.ts';
import { selectVersion, splitArguments, UnknownVersion } from './kubernetes-version.ts';
import { type ControlPlaneBuild, controlPlaneBuild, goBuildCommand, programs } from './programs.ts';

const exitCodes = { done: 0, buildFailed: 1, usage: 2, assetsIncomplete: 2, noGo: 3 } as const;
/** Interval of progress lines; a cold build prints nothing for minutes. */
const stillBuildingMs = 30_000;

const noGoAdvice = `no Go on the PATH; the control plane cannot be built.
  Install Go 1.26 or newer (https://go.dev/dl/, or \`golang\` of the distribution), or set KUBEBUILDER_ASSETS to a folder
  that contains ${programs.join(', ')}.`;

process.exitCode = await main(process.argv.slice(2));

async function main(args: readonly string[]): Promise<number> {
  try {
    const { version, others } = splitArguments(args);
    if (version !== undefined) selectVersion(version);
    return await build(others.includes('--optional'));
  } catch (error) {
    if (!(error instanceof UnknownVersion)) throw error;
    say(error.message);
    return exitCodes.usage;
  }
}

async function build(optional: boolean): Promise<number> {
  const found = findControlPlane();
  if (!('missing' in found)) {
    say(`present in ${found.dir}`);
    return exitCodes.done;
  }
  if (assetsFolder() !== undefined) {
    say(found.missing);
    return exitCodes.assetsIncomplete;
  }
  if (!hasGo()) {
    say(noGoAdvice);
    return optional ? exitCodes.done : exitCodes.noGo;
  }
  return (await buildAll(controlPlaneBuild())) ? exitCodes.done : exitCodes.buildFailed;
}

/** Builds into a temporary folder and renames it at the end, so that an existing folder is complete. */
async function buildAll(build: ControlPlaneBuild): Promise<boolean> {
  const { cacheFolder: folder, gitVersion, etcdVersion } = build;
  mkdirSync(dirname(folder), { recursive: true });
  const unfinished = mkdtempSync(`${folder}.`);
  const startedMs = performance.now();
  const elapsed = (): string => `${Math.round((performance.now() - startedMs) / 1_000)} s`;
  say(`building Kubernetes ${gitVersion} and etcd ${etcdVersion} into ${folder}`);
  say("a cold build takes minutes and about 4 GB for Go's caches");
  const alive = setInterval(() => say(`still building, ${elapsed()}`), stillBuildingMs);
  try {
    const code = await goBuild(build, unfinished);
    if (code !== 0) {
      say(`failed after ${elapsed()}: go exited with ${code}`);
      return false;
    }
    moveIntoPlace(unfinished, folder);
    say(`built in ${elapsed()}, ready in ${folder}`);
    return true;
  } finally {
    clearInterval(alive);
    rmSync(unfinished, { recursive: true, force: true });
  }
}

/** All at once: one is linked, on one core, while others are compiled. */
function goBuild(build: ControlPlaneBuild, folder: string): Promise<number | string> {
  const { cwd, args } = goBuildCommand(build, folder);
  const go = spawn('go', args, {
    cwd,
    env: { ...process.env, CGO_ENABLED: '0', GOWORK: 'off' },
    stdio: ['ignore', 'inherit', 'inherit'],
  });
  return new Promise((resolve, reject) => {
    go.once('error', reject);
    go.once('close', (code, signal) => resolve(code ?? signal ?? 1));
  });
}

function moveIntoPlace(unfinished: string, folder: string): void {
  // Another process may have built the same programs meanwhile.
  if (existsSync(folder) && !('missing' in findControlPlane())) return;
  rmSync(folder, { recursive: true, force: true });
  renameSync(unfinished, folder);
}

function hasGo(): boolean {
  return spawnSync('go', ['version'], { stdio: 'ignore' }).status === 0;
}

function say(line: string): void {
  console.log(`control plane: ${line}`);
}
