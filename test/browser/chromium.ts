// Chromium of the package @sparticuz/chromium, unpacked once into a cache folder, with its fonts and, where the machine
// lacks them, its libraries. Nothing else is installed.
import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';

export interface Chromium {
  readonly executablePath: string;
  /** In addition to the environment of this process. */
  readonly env: Readonly<Record<string, string>>;
}

/** Chromium cannot start here; `missing` is the reason. */
interface NoChromium {
  readonly missing: string;
}

/** Of the files in the folder: a change of `fontsConfig` needs the next number. */
const layout = 2;

/** The folder of an unpacked Chromium is complete: folders are renamed to this path after the last file is written. */
function cacheFolder(version: string): string {
  const root = process.env['XDG_CACHE_HOME'] || join(homedir(), '.cache');
  return join(root, 'node-lifecycle-controller', 'chromium', `${version}-${layout}`);
}

/** Unpacks Chromium unless its version is in the cache, which takes some seconds. */
export function unpackedChromium(): Chromium | NoChromium {
  const { platform, arch } = process;
  if (platform !== 'linux' || arch !== 'x64')
    return { missing: `@sparticuz/chromium is built for linux x64 (this is ${platform} ${arch})` };
  const folder = cacheFolder(installedVersion());
  if (!existsSync(folder)) unpackInto(folder);
  const executablePath = join(folder, 'chromium');
  const libraries = { LD_LIBRARY_PATH: join(folder, 'al2023', 'lib') };
  const env = missingLibraries(executablePath, {}).length === 0 ? {} : libraries;
  const missing = missingLibraries(executablePath, env);
  if (missing.length > 0) return { missing: `Chromium needs ${missing.join(', ')}` };
  return { executablePath, env: { FONTCONFIG_FILE: join(folder, 'fonts.conf'), ...env } };
}

function installedVersion(): string {
  const file = join(import.meta.dirname, '..', '..', 'node_modules', '@sparticuz', 'chromium', 'package.json');
  return (JSON.parse(readFileSync(file, 'utf8')) as { readonly version: string }).version;
}

/** The package unpacks into the folder for temporary files, so a process of its own gets a new one. */
function unpackInto(folder: string): void {
  mkdirSync(join(folder, '..'), { recursive: true });
  const staging = mkdtempSync(`${folder}-`);
  try {
    // Only in this environment does the package unpack its libraries.
    const env = { ...process.env, TMPDIR: staging, AWS_EXECUTION_ENV: 'AWS_Lambda_nodejs24.x' };
    execFileSync(process.execPath, [join(import.meta.dirname, 'unpack-chromium.ts')], { env, stdio: 'inherit' });
    writeFileSync(join(staging, 'fonts.conf'), fontsConfig(folder));
    moveTo(folder, staging);
  } finally {
    rmSync(staging, { recursive: true, force: true });
  }
}

/** Another process may have finished first; its folder has the same content. */
function moveTo(folder: string, staging: string): void {
  try {
    renameSync(staging, folder);
  } catch (error) {
    if (!existsSync(folder)) throw error;
  }
}

const preferredFonts = [
  ['sans-serif', 'Open Sans'],
  ['system-ui', 'Open Sans'],
  ['monospace', 'DejaVu Sans Mono'],
  ['ui-monospace', 'DejaVu Sans Mono'],
] as const;

/** The text of pages has the same size on every machine: the package's font is preferred, others add missing glyphs. */
function fontsConfig(folder: string): string {
  const alias = ([family, preferred]: readonly [string, string]): string =>
    `  <alias binding="strong"><family>${family}</family><prefer><family>${preferred}</family></prefer></alias>`;
  return [
    '<?xml version="1.0"?>',
    '<!DOCTYPE fontconfig SYSTEM "fonts.dtd">',
    '<fontconfig>',
    `  <dir>${join(folder, 'fonts')}</dir>`,
    '  <dir>/usr/share/fonts</dir>',
    `  <cachedir>${join(folder, 'fonts-cache')}</cachedir>`,
    ...preferredFonts.map(alias),
    '</fontconfig>',
    '',
  ].join('\n');
}

/** The libraries that the dynamic linker does not find: of a machine with another C library, its message. */
function missingLibraries(executablePath: string, env: Readonly<Record<string, string>>): readonly string[] {
  const { stdout, stderr, error } = spawnSync('ldd', [executablePath], {
    encoding: 'utf8',
    env: { ...process.env, ...env },
  });
  if (error !== undefined) return [error.message];
  const lines = `${stdout}\n${stderr}`.split('\n').map((line) => line.trim());
  return lines.filter((line) => /not found|error/i.test(line));
}
