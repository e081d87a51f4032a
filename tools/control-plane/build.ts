// Builds the control plane for tests: `npm run control-plane`. The programs are built from the published Go modules in
// go.mod; a second run finds them and does nothing. Exit codes: 0 success, 1 build failure, 2 KUBEBUILDER_ASSETS is set but
// incomplete, 3 no Go (0 with --optional).
import { spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { assetsFolder } from '../../src/cli/programs/program-finder.ts';
import { findControlPlane } from './binaries.ts';
import { buildFlags, cacheFolder, moduleFolder, type Program, programs } from './programs.ts';

const exitCodes = { done: 0, buildFailed: 1, assetsIncomplete: 2, noGo: 3 } as const;
/** Interval of progress lines; a cold build prints nothing for minutes. */
const stillBuildingMs = 30_000;

const noGoAdvice = `no Go on the PATH; the control plane cannot be built.
  Install Go 1.26 or newer (https://go.dev/dl/, or \`golang\` of the distribution), or set KUBEBUILDER_ASSETS to a folder
  that contains ${programs.join(', ')}.`;

process.exitCode = await main(process.argv.includes('--optional'));

async function main(optional: boolean): Promise<number> {
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
  return (await buildInto(cacheFolder())) ? exitCodes.done : exitCodes.buildFailed;
}

/** Builds into a temporary folder and renames it at the end, so that an existing folder is complete. */
async function buildInto(folder: string): Promise<boolean> {
  mkdirSync(dirname(folder), { recursive: true });
  const unfinished = mkdtempSync(`${folder}.`);
  try {
    say(`building into ${folder}; a cold build takes minutes and about 4 GB for Go's caches`);
    for (const [index, program] of programs.entries()) {
      if (!(await buildProgram(program, unfinished, `${index + 1} of ${programs.length}`))) return false;
    }
    moveIntoPlace(unfinished, folder);
    say(`ready in ${folder}`);
    return true;
  } finally {
    rmSync(unfinished, { recursive: true, force: true });
  }
}

async function buildProgram(program: Program, folder: string, which: string): Promise<boolean> {
  const startedMs = performance.now();
  const elapsed = (): string => `${Math.round((performance.now() - startedMs) / 1_000)} s`;
  say(`${program} (${which}) ...`);
  const alive = setInterval(() => say(`${program} (${which}) still building, ${elapsed()}`), stillBuildingMs);
  const file = join(folder, program);
  const code = await goBuild(file, `./cmd/${program}`);
  clearInterval(alive);
  if (code !== 0) {
    say(`${program} (${which}) failed after ${elapsed()}: go exited with ${code}`);
    return false;
  }
  say(`${program} (${which}) built in ${elapsed()}, ${Math.round(statSync(file).size / 1e6)} MB`);
  return true;
}

function goBuild(file: string, mainPackage: string): Promise<number | string> {
  const go = spawn('go', ['build', ...buildFlags, '-o', file, mainPackage], {
    cwd: moduleFolder,
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
