// krew and its validator of manifests, and the folder of the built programs. Its dependencies are old, so it has a module of its
// own. The name of the folder is a hash of all inputs of the build, as for the other programs.
import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';

export const krewModuleFolder = join(import.meta.dirname, 'krew');
export const krewBuildFlags: readonly string[] = ['-trimpath', '-ldflags=-s -w'];

/** Names and packages; both are tools of the module. */
export const krewTools = {
  krew: 'sigs.k8s.io/krew/cmd/krew',
  'validate-krew-manifest': 'sigs.k8s.io/krew/cmd/validate-krew-manifest',
} as const;

interface KrewPrograms {
  readonly krew: string;
  readonly validator: string;
}

/** The programs, or the reason why they are missing. */
export function findKrew(): KrewPrograms | { readonly missing: string } {
  const dir = krewCacheFolder();
  const programs = { krew: join(dir, 'krew'), validator: join(dir, 'validate-krew-manifest') };
  if (Object.values(programs).every((file) => existsSync(file))) return programs;
  return { missing: `krew not found in ${dir}: run \`npm run packaging-tools\`` };
}

export function krewCacheFolder(): string {
  const root = process.env['XDG_CACHE_HOME'] || join(homedir(), '.cache');
  return join(root, 'node-lifecycle-controller', 'krew', buildHash());
}

function buildHash(): string {
  const hash = createHash('sha256').update([process.platform, process.arch, ...krewBuildFlags].join(' '));
  for (const file of ['go.mod', 'go.sum']) hash.update(readFileSync(join(krewModuleFolder, file)));
  return hash.digest('hex').slice(0, 16);
}
