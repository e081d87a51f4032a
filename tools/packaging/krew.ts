// `npm run krew [-- --out=FOLDER --url=URL --homepage=URL]`: builds the program, packs it as the archive of the kubectl plugin,
// and writes the manifest for krew with its checksum.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { globSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { gzipSync } from 'node:zlib';
import { buildArchive } from './build-archive.ts';
import { buildKrewManifest } from './build-krew-manifest.ts';

const root = join(import.meta.dirname, '..', '..');
const packed = ['nlc.js', 'package.json', 'LICENSE', 'THIRD-PARTY-LICENSES.txt', 'chunks/*.js'];
const example = 'https://releases.example.com';

main();

function main(): void {
  const { version }: { readonly version: string } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  const name = `node-lifecycle-${version}.tar.gz`;
  const { values } = parseArgs({
    options: {
      out: { type: 'string', default: join(root, 'dist', 'krew') },
      url: { type: 'string', default: `${example}/${name}` },
      homepage: { type: 'string', default: example },
    },
  });
  const archive = gzipSync(buildArchive(builtFiles()), { level: 9 });
  const sha256 = createHash('sha256').update(archive).digest('hex');
  const folder = resolve(values.out);
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, name), archive);
  const { url, homepage } = values;
  writeFileSync(join(folder, 'node-lifecycle.yaml'), buildKrewManifest({ version, url, homepage, sha256 }));
  console.log(`${folder}: ${name} (${(archive.length / 1e6).toFixed(1)} MB), node-lifecycle.yaml`);
}

/** The files of a build in a temporary folder. */
function builtFiles(): Parameters<typeof buildArchive>[0] {
  const folder = mkdtempSync(join(tmpdir(), 'nlc-krew-'));
  try {
    const build = join(root, 'tools', 'bundle', 'build.ts');
    const { status } = spawnSync(process.execPath, [build, folder], { stdio: ['ignore', 'ignore', 'inherit'] });
    if (status !== 0) throw new Error('the build failed');
    return packed
      .flatMap((pattern) => globSync(pattern, { cwd: folder }))
      .map((path) => {
        const file = join(folder, path);
        const isProgram = (statSync(file).mode & 0o111) !== 0;
        return { path: path.replaceAll('\\', '/'), mode: isProgram ? 0o755 : 0o644, content: readFileSync(file) };
      });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
