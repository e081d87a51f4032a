// `npm run build [-- FOLDER]`: bundles the program and all packages as JavaScript, so that it runs without node_modules:
// `nlc.js`, and in `chunks` what its commands load. The folder (dist) is copied into the image and packed by `npm pack`, as a package without dependencies.
import { chmodSync, copyFileSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { build, type Metafile, type Plugin } from 'esbuild';
import { embedDashboard } from './embed-dashboard.ts';
import { bundledPackages, noticesText } from './third-party.ts';

const root = join(import.meta.dirname, '..', '..');
const copied = ['LICENSE', 'README.md', 'CHANGELOG.md'];
/** Defines `require` for CommonJS packages, because an ES module has none. */
const requireBanner = `import { createRequire as createRequireForPackages } from 'node:module';
const require = createRequireForPackages(import.meta.url);`;

await main(resolve(process.argv[2] ?? join(root, 'dist')));

async function main(folder: string): Promise<void> {
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  const dashboard = await embedDashboard(root);
  const { inputs, outputs } = await bundle(folder, dashboard.plugin);
  chmodSync(join(folder, 'nlc.js'), 0o755);
  for (const file of copied) copyFileSync(join(root, file), join(folder, file));
  writeFileSync(join(folder, 'package.json'), packageText());
  const packages = bundledPackages(root, Object.keys({ ...inputs, ...dashboard.inputs }));
  writeFileSync(join(folder, 'THIRD-PARTY-LICENSES.txt'), noticesText(packages));
  const bytes = Object.values(outputs).reduce((sum, output) => sum + output.bytes, 0);
  console.log(`${folder}: ${(bytes / 1e6).toFixed(1)} MB of JavaScript with ${packages.length} packages`);
}

async function bundle(folder: string, dashboard: Plugin): Promise<Metafile> {
  const { metafile } = await build({
    absWorkingDir: root,
    entryPoints: { nlc: 'src/cli/main.ts' },
    outdir: folder,
    bundle: true,
    // What the controller does not run is not loaded: V8 keeps the source of every loaded file in memory.
    splitting: true,
    chunkNames: 'chunks/[name]-[hash]',
    platform: 'node',
    format: 'esm',
    target: 'node24',
    banner: { js: requireBanner },
    plugins: [dashboard],
    legalComments: 'none',
    // An optional dependency of debug.
    external: ['supports-color'],
    // The paths in comments do not depend on where node_modules is.
    preserveSymlinks: true,
    metafile: true,
    logLevel: 'warning',
  });
  return metafile;
}

function packageText(): string {
  const manifest: Readonly<Record<string, unknown>> = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  const { name, version, description, license, type, engines } = manifest;
  const names = Object.keys(manifest['bin'] ?? {});
  const bin = Object.fromEntries(names.map((name) => [name, 'nlc.js']));
  return `${JSON.stringify({ name, version, description, license, type, engines, bin }, undefined, 2)}\n`;
}
