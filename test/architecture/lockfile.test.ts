// Origin and licence of all packages in the lockfile, including those for other platforms.
import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';

const root = join(import.meta.dirname, '..', '..');
const read = (path: string): string => readFileSync(join(root, path), 'utf8');

interface LockedPackage {
  readonly version?: string;
  readonly license?: string;
  readonly integrity?: string;
  readonly resolved?: string;
  readonly link?: boolean;
  readonly dev?: boolean;
  readonly hasInstallScript?: boolean;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly devDependencies?: Readonly<Record<string, string>>;
}

const { lockfileVersion, packages } = JSON.parse(read('package-lock.json')) as {
  readonly lockfileVersion: number;
  readonly packages: Readonly<Record<string, LockedPackage>>;
};
const locked = Object.entries(packages).filter(([path]) => path !== '');

/** Licences of packages that may be bundled, with their licence text. */
const shippable = new Set(['0BSD', 'Apache-2.0', 'BSD-2-Clause', 'BSD-3-Clause', 'ISC', 'MIT', 'PSF-2.0', 'Unlicense']);
/** Licences of development tools. */
const usable = new Set([...shippable, 'BlueOak-1.0.0', 'MIT OR Apache-2.0']);
/** Single development tools: MPL-2.0 binds changes of the tool's own files, and the tool is neither changed nor shipped. */
const exceptions: ReadonlyMap<string, string> = new Map([['node_modules/axe-core', 'MPL-2.0']]);

test('every entry of dependencies is imported by the program', () => {
  const sources = globSync('src/**/*.ts', { cwd: root }).map(read).join('\n');
  const { dependencies } = JSON.parse(read('package.json')) as {
    readonly dependencies: Readonly<Record<string, string>>;
  };
  const isImported = (name: string): boolean => new RegExp(`(?:from|import\\(?) ?'${name}['/]`).test(sources);
  assert.deepEqual(
    Object.keys(dependencies).filter((name) => !isImported(name)),
    [],
  );
});

test('every package has an allowed licence', () => {
  for (const [path, { license = 'none', dev }] of locked) {
    const isException = dev === true && exceptions.get(path) === license;
    assert.ok(isException || (dev === true ? usable : shippable).has(license), `${path}: ${license}`);
  }
});

test('every package is pinned by a checksum and comes from the npm registry', () => {
  assert.equal(lockfileVersion, 3);
  assert.ok(locked.length > 100);
  for (const [path, { version, integrity, resolved, link }] of locked) {
    assert.match(path, /^node_modules\//);
    assert.match(version ?? '', /^\d+\.\d+\.\d+/, path);
    assert.match(integrity ?? '', /^sha512-[A-Za-z0-9+/]{86}==$/, path);
    assert.match(resolved ?? 'https://registry.npmjs.org/', /^https:\/\/registry\.npmjs\.org\//, path);
    assert.equal(link, undefined, path);
  }
});

test('the lockfile matches package.json, whose versions are exact', () => {
  const { version, dependencies, devDependencies } = JSON.parse(read('package.json')) as LockedPackage;
  const own = packages[''];
  assert.deepEqual([own?.version, own?.dependencies, own?.devDependencies], [version, dependencies, devDependencies]);
  for (const [name, wanted] of Object.entries({ ...dependencies, ...devDependencies }))
    assert.match(wanted, /^(npm:[a-z]+@)?\d+\.\d+\.\d+$/, name);
});

test('packages with install scripts are listed in package.json', () => {
  const { allowScripts } = JSON.parse(read('package.json')) as { allowScripts: Readonly<Record<string, boolean>> };
  const scripted = locked.filter(([, { hasInstallScript }]) => hasInstallScript === true).map(([path]) => path);
  assert.deepEqual(
    scripted.map((path) => path.replace(/^.*node_modules\//, '')).filter((name) => allowScripts[name] === undefined),
    [],
  );
  const left = Object.keys(allowScripts).filter((name) => allowScripts[name] === true);
  assert.deepEqual(left, ['node']);
});
