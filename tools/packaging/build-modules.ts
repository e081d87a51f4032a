// Builds the programs of the modules `krew` and `release`: a part of `npm run packaging-tools`. A second run finds them. Exit
// codes: 0 success, 1 build failure, 3 no Go (0 with --optional).
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { krewModule } from './krew-programs.ts';
import { findPrograms, moduleBuildFlags, programFolder, type ProgramModule } from './program-module.ts';
import { releaseModule } from './release-programs.ts';

const exitCodes = { done: 0, buildFailed: 1, noGo: 3 } as const;

process.exitCode = main(process.argv.includes('--optional'));

function main(optional: boolean): number {
  const modules: readonly ProgramModule[] = [krewModule, releaseModule];
  const missing = modules.filter((module) => 'missing' in findPrograms(module));
  if (missing.length === 0) return exitCodes.done;
  if (spawnSync('go', ['version'], { stdio: 'ignore' }).status !== 0) {
    const names = missing.flatMap(({ programs }) => Object.keys(programs));
    console.log(`packaging tools: no Go on the PATH; ${names.join(', ')} cannot be built`);
    return optional ? exitCodes.done : exitCodes.noGo;
  }
  return missing.every(buildModule) ? exitCodes.done : exitCodes.buildFailed;
}

/** Builds into a temporary folder and renames it at the end, so that an existing folder is complete. */
function buildModule(module: ProgramModule): boolean {
  const folder = programFolder(module);
  mkdirSync(dirname(folder), { recursive: true });
  const unfinished = mkdtempSync(`${folder}.`);
  try {
    const programs = Object.entries(module.programs);
    if (!programs.every(([name, path]) => buildProgram(join(unfinished, name), path, module.folder))) return false;
    if (!existsSync(folder)) renameSync(unfinished, folder);
    return true;
  } finally {
    rmSync(unfinished, { recursive: true, force: true });
  }
}

function buildProgram(file: string, path: string, cwd: string): boolean {
  const { status } = spawnSync('go', ['build', ...moduleBuildFlags, '-o', file, path], {
    cwd,
    env: { ...process.env, CGO_ENABLED: '0', GOWORK: 'off', GOFLAGS: '-mod=readonly' },
    stdio: 'inherit',
  });
  console.log(`packaging tools: ${path} ${status === 0 ? 'built' : 'failed'}`);
  return status === 0;
}
