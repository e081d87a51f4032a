// `npm run sbom`: the packages of the program as npm knows them. `npm sbom --omit=dev` also leaves out a package of the program
// that a development dependency needs too, so npm gets a lockfile without development dependencies.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const root = join(import.meta.dirname, '..', '..');

interface LockedPackage {
  readonly dev?: boolean;
  readonly link?: boolean;
  readonly devDependencies?: object;
}

/** What `npm sbom` prints about the packages that the program needs. Throws an Error with its message if it fails. */
export function npmSbom(format: 'spdx' | 'cyclonedx'): string {
  const folder = mkdtempSync(join(tmpdir(), 'nlc-sbom-'));
  try {
    writeFileSync(join(folder, 'package.json'), JSON.stringify({ ...readJson('package.json'), devDependencies: {} }));
    writeFileSync(join(folder, 'package-lock.json'), JSON.stringify(programLock()));
    const options = ['sbom', `--sbom-format=${format}`, '--package-lock-only'];
    const { status, stdout, stderr } = spawnSync('npm', options, { cwd: folder, encoding: 'utf8' });
    if (status !== 0) throw new Error(`npm sbom: ${stderr}`);
    return stdout;
  } finally {
    rmSync(folder, { recursive: true });
  }
}

function programLock(): object {
  const { packages, ...lockfile } = readJson('package-lock.json') as { packages: Record<string, LockedPackage> };
  const kept = Object.entries(packages).filter(([path, one]) => path === '' || isOfProgram(path, one));
  const entries = kept.map(([path, one]) => [path, { ...one, devDependencies: {} }]);
  return { ...lockfile, packages: Object.fromEntries(entries) };
}

/** Packages of this repository, which are linked, are for development. */
function isOfProgram(path: string, { dev, link }: LockedPackage): boolean {
  return path.startsWith('node_modules/') && dev !== true && link !== true;
}

function readJson(file: string): object {
  return JSON.parse(readFileSync(join(root, file), 'utf8'));
}

if (import.meta.main) process.stdout.write(npmSbom('cyclonedx'));
