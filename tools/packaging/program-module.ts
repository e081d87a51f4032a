// Programs that are built from a Go module of their own, and the folder of the built programs. The name of the folder is a hash of all
// inputs of the build, as for the other programs.
import { createHash } from 'node:crypto';
import { existsSync, globSync, readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';

export interface ProgramModule<Name extends string = string> {
  /** Folder below the project's folder in the user's cache. */
  readonly cache: string;
  /** Folder of go.mod. */
  readonly folder: string;
  /** Names and packages. */
  readonly programs: Readonly<Record<Name, string>>;
}

export const moduleBuildFlags: readonly string[] = ['-trimpath', '-ldflags=-s -w'];

/** The files of the programs, or the reason why they are missing. */
export function findPrograms<Name extends string>(
  module: ProgramModule<Name>,
): Readonly<Record<Name, string>> | { readonly missing: string } {
  const dir = programFolder(module);
  const names = Object.keys(module.programs) as Name[];
  const files = Object.fromEntries(names.map((name) => [name, join(dir, name)])) as Record<Name, string>;
  if (names.every((name) => existsSync(files[name]))) return files;
  return { missing: `${module.cache} not found in ${dir}: run \`npm run packaging-tools\`` };
}

export function programFolder(module: ProgramModule): string {
  return join(projectCache(), module.cache, buildHash(module));
}

/** The project's folder in the user's cache. */
export function projectCache(): string {
  return join(process.env['XDG_CACHE_HOME'] || join(homedir(), '.cache'), 'node-lifecycle-controller');
}

function buildHash({ folder }: ProgramModule): string {
  const hash = createHash('sha256').update([process.platform, process.arch, ...moduleBuildFlags].join(' '));
  const sources = globSync('cmd/*/*.go', { cwd: folder }).sort();
  for (const file of ['go.mod', 'go.sum', ...sources]) hash.update(readFileSync(join(folder, file)));
  return hash.digest('hex').slice(0, 16);
}
