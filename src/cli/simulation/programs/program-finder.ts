// Finds programs of Kubernetes on this machine, where other Kubernetes projects look for them.
import { accessSync, constants, readdirSync, statSync } from 'node:fs';
import { homedir } from 'node:os';
import { delimiter, join } from 'node:path';

type Environment = Readonly<Record<string, string | undefined>>;

/** The folder of `KUBEBUILDER_ASSETS`, if it is set. */
export function assetsFolder(env: Environment = process.env): string | undefined {
  return env['KUBEBUILDER_ASSETS'] || undefined;
}

/** The folder in which each build of the control plane for tests has a folder. */
export function buildsFolder(env: Environment = process.env): string {
  const root = env['XDG_CACHE_HOME'] || join(homedir(), '.cache');
  return join(root, 'node-lifecycle-controller', 'control-plane');
}

export function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

/**
 * The file of each program: in `KUBEBUILDER_ASSETS` if it is set, and nowhere else then; otherwise in the newest build that
 * has all of them, or on the `PATH`. Undefined if one of them is missing.
 */
export function findPrograms<P extends string>(
  programs: readonly P[],
  env: Environment = process.env,
): ReadonlyMap<P, string> | undefined {
  const assets = assetsFolder(env);
  const candidates = assets === undefined ? builds(buildsFolder(env)) : [assets];
  const folder = candidates.find((candidate) => programs.every((program) => isExecutable(join(candidate, program))));
  const onPath = assets === undefined ? (env['PATH'] ?? '').split(delimiter).filter((part) => part !== '') : [];
  const folders = folder === undefined ? onPath : [folder];
  const found = new Map<P, string>();
  for (const program of programs) {
    const file = folders.map((each) => join(each, program)).find(isExecutable);
    if (file === undefined) return undefined;
    found.set(program, file);
  }
  return found;
}

/** Newest first. */
function builds(root: string): readonly string[] {
  try {
    const folders = readdirSync(root).map((name) => join(root, name));
    const dated = folders.map((folder) => ({
      folder,
      atMs: statSync(folder, { throwIfNoEntry: false })?.mtimeMs ?? 0,
    }));
    return dated.toSorted((a, b) => b.atMs - a.atMs).map(({ folder }) => folder);
  } catch {
    return [];
  }
}
