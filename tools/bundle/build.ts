// `npm run build [-- FOLDER]`: bundles the program and all packages as JavaScript, so that it runs without node_modules:
// `nlc.js`, which checks the version of Node.js, and in `chunks` the program and what its commands load. Other content of the folder stays. The folder (dist) is copied into the image and packed by `npm pack`, as a package without dependencies.
import { chmodSync, copyFileSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { build, type Metafile, type Plugin } from 'esbuild';
import { embedDashboard } from './embed-dashboard.ts';
import { slimUndici } from './slim-undici.ts';
import { bundledPackages, noticesText } from './third-party.ts';

const root = join(import.meta.dirname, '..', '..');
const copied = ['LICENSE', 'README.md', 'CHANGELOG.md'];
const written = ['nlc.js', 'chunks', 'package.json', 'THIRD-PARTY-LICENSES.txt', ...copied];
/** Defines `require` for CommonJS packages, because an ES module has none. */
const requireBanner = `import { createRequire as createRequireForPackages } from 'node:module';
const require = createRequireForPackages(import.meta.url);`;

await main(resolve(process.argv[2] ?? join(root, 'dist')));

async function main(folder: string): Promise<void> {
  for (const name of written) rmSync(join(folder, name), { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  const dashboard = await embedDashboard(root);
  const { inputs, outputs } = await bundle(folder, dashboard.plugin);
  writeFileSync(join(folder, 'nlc.js'), launcherText(), { mode: 0o755 });
  // The bundler makes an entry point executable; the launcher is the only one that is run.
  chmodSync(join(folder, 'chunks', 'main.js'), 0o644);
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
    entryPoints: { 'chunks/main': 'src/cli/main.ts' },
    outdir: folder,
    bundle: true,
    // What the controller does not run is not loaded: V8 keeps the source of every loaded file in memory.
    splitting: true,
    chunkNames: 'chunks/[name]-[hash]',
    platform: 'node',
    format: 'esm',
    target: 'node24',
    banner: { js: requireBanner },
    plugins: [dashboard, slimUndici(root)],
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

/** The program is imported after the check: an older Node.js would fail while it links the modules. */
function launcherText(): string {
  const { engines } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { engines: { node: string } };
  const least = Number(/\d+/.exec(engines.node)?.[0]);
  return `#!/usr/bin/env node
if (Number(process.versions.node.split('.')[0]) < ${least}) {
  console.error(\`nlc: needs Node.js ${engines.node} (got \${process.versions.node} at \${process.execPath})\`);
  process.exit(1);
}
await import('./chunks/main.js');
`;
}

function packageText(): string {
  const manifest: Readonly<Record<string, unknown>> = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  const { name, version, description, license, type, engines } = manifest;
  const names = Object.keys(manifest['bin'] ?? {});
  const bin = Object.fromEntries(names.map((name) => [name, 'nlc.js']));
  const files = written.filter((file) => file !== 'package.json');
  return `${JSON.stringify({ name, version, description, license, type, engines, bin, files }, undefined, 2)}\n`;
}
