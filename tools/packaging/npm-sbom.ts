// `npm run sbom`: the packages of the program as npm knows them. `npm sbom --omit=dev` also leaves out a package of the program
// that a development dependency needs too, so npm gets a lockfile without development dependencies.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const root = join(import.meta.dirname, '..', '..');

interface Lockfile {
  readonly packages: Readonly<Record<string, { readonly dev?: boolean; readonly devDependencies?: object }>>;
}

/** What `npm sbom` prints about the packages that the program needs. Throws an Error with its message if it fails. */
export function npmSbom(format: 'spdx' | 'cyclonedx'): string {
  const folder = mkdtempSync(join(tmpdir(), 'nlc-sbom-'));
  try {
    const { devDependencies: _manifest, ...manifest } = readJson<{ devDependencies?: object }>('package.json');
    const { packages, ...lockfile } = readJson<Lockfile>('package-lock.json');
    const kept = Object.entries(packages).filter(([path, { dev }]) => dev !== true && /^(?:node_modules\/|$)/.test(path));
    const withoutDev = kept.map(([path, { devDependencies: _lock, ...entry }]) => [path, entry]);
    writeFileSync(join(folder, 'package.json'), JSON.stringify(manifest));
    writeFileSync(join(folder, 'package-lock.json'), JSON.stringify({ ...lockfile, packages: Object.fromEntries(withoutDev) }));
    const options = ['sbom', `--sbom-format=${format}`, '--package-lock-only'];
    const { status, stdout, stderr } = spawnSync('npm', options, { cwd: folder, encoding: 'utf8' });
    if (status !== 0) throw new Error(`npm sbom: ${stderr}`);
    return stdout;
  } finally {
    rmSync(folder, { recursive: true });
  }
}

function readJson<T>(file: string): T {
  return JSON.parse(readFileSync(join(root, file), 'utf8'));
}

if (import.meta.main) process.stdout.write(npmSbom('cyclonedx'));
