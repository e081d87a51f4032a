// Builds helm, kubeconform, kustomize and promtool from the modules in go.mod: `npm run packaging-tools`. A second run finds
// them. Exit codes: 0 success, 1 build failure, 3 no Go (0 with --optional).
import { spawnSync } from 'node:child_process';
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, renameSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { buildFlags, cacheFolder, findTools, moduleFolder, prometheusOperator, tools } from './programs.ts';

const exitCodes = { done: 0, buildFailed: 1, noGo: 3 } as const;
const goEnvironment = { ...process.env, CGO_ENABLED: '0', GOWORK: 'off', GOFLAGS: '-mod=readonly' };

process.exitCode = main(process.argv.includes('--optional'));

function main(optional: boolean): number {
  const found = findTools();
  if (!('missing' in found)) {
    say(`present in ${found.dir}`);
    return exitCodes.done;
  }
  if (spawnSync('go', ['version'], { stdio: 'ignore' }).status !== 0) {
    say('no Go on the PATH; helm, kubeconform, kustomize and promtool cannot be built');
    return optional ? exitCodes.done : exitCodes.noGo;
  }
  return buildInto(cacheFolder()) ? exitCodes.done : exitCodes.buildFailed;
}

/** Builds into a temporary folder and renames it at the end, so that an existing folder is complete. */
function buildInto(folder: string): boolean {
  mkdirSync(dirname(folder), { recursive: true });
  const unfinished = mkdtempSync(`${folder}.`);
  try {
    const built = Object.entries(tools).every(([name, path]) => buildTool(join(unfinished, name), path));
    if (!built || !copyDefinitions(unfinished)) return false;
    moveIntoPlace(unfinished, folder);
    say(`ready in ${folder}`);
    return true;
  } finally {
    rmSync(unfinished, { recursive: true, force: true });
  }
}

function buildTool(file: string, path: string): boolean {
  const startedMs = performance.now();
  const { status } = spawnSync('go', ['build', ...buildFlags, '-o', file, path], {
    cwd: moduleFolder,
    env: goEnvironment,
    stdio: 'inherit',
  });
  const seconds = Math.round((performance.now() - startedMs) / 1_000);
  say(`${path} ${status === 0 ? 'built' : 'failed'} in ${seconds} s`);
  return status === 0;
}

interface Downloaded {
  readonly Dir: string;
  readonly Sum: string;
}

function copyDefinitions(folder: string): boolean {
  const { module, sum, folder: inside, files } = prometheusOperator;
  const { status, stdout } = spawnSync('go', ['mod', 'download', '-json', module], {
    cwd: folder,
    env: goEnvironment,
    encoding: 'utf8',
  });
  if (status !== 0) return sayFailed(`${module}: ${stdout}`);
  const downloaded = JSON.parse(stdout) as Downloaded;
  if (downloaded.Sum !== sum) return sayFailed(`${module}: checksum must be ${sum} (got ${downloaded.Sum})`);
  for (const file of files) copyFileSync(join(downloaded.Dir, inside, file), join(folder, file));
  return true;
}

function moveIntoPlace(unfinished: string, folder: string): void {
  if (existsSync(folder) && !('missing' in findTools())) return;
  rmSync(folder, { recursive: true, force: true });
  renameSync(unfinished, folder);
}

function sayFailed(line: string): false {
  say(line);
  return false;
}

function say(line: string): void {
  console.log(`packaging tools: ${line}`);
}
