// Builds krew and its validator from the module in `krew`: a part of `npm run packaging-tools`. A second run finds them. Exit
// codes: 0 success, 1 build failure, 3 no Go (0 with --optional).
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { findKrew, krewBuildFlags, krewCacheFolder, krewModuleFolder, krewTools } from './krew-programs.ts';

const exitCodes = { done: 0, buildFailed: 1, noGo: 3 } as const;

process.exitCode = main(process.argv.includes('--optional'));

function main(optional: boolean): number {
  if (!('missing' in findKrew())) return exitCodes.done;
  if (spawnSync('go', ['version'], { stdio: 'ignore' }).status !== 0) {
    console.log('packaging tools: no Go on the PATH; krew cannot be built');
    return optional ? exitCodes.done : exitCodes.noGo;
  }
  return buildInto(krewCacheFolder()) ? exitCodes.done : exitCodes.buildFailed;
}

/** Builds into a temporary folder and renames it at the end, so that an existing folder is complete. */
function buildInto(folder: string): boolean {
  mkdirSync(dirname(folder), { recursive: true });
  const unfinished = mkdtempSync(`${folder}.`);
  try {
    if (!Object.entries(krewTools).every(([name, path]) => buildTool(join(unfinished, name), path))) return false;
    if (!existsSync(folder)) renameSync(unfinished, folder);
    return true;
  } finally {
    rmSync(unfinished, { recursive: true, force: true });
  }
}

function buildTool(file: string, path: string): boolean {
  const { status } = spawnSync('go', ['build', ...krewBuildFlags, '-o', file, path], {
    cwd: krewModuleFolder,
    env: { ...process.env, CGO_ENABLED: '0', GOWORK: 'off', GOFLAGS: '-mod=readonly' },
    stdio: 'inherit',
  });
  console.log(`packaging tools: ${path} ${status === 0 ? 'built' : 'failed'}`);
  return status === 0;
}
