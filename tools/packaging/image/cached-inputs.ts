// The pinned packages in the user's cache. Files have the name of their checksum, so that other pins are other files.
import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { projectCache } from '../program-module.ts';
import { architectures, type DebianPackage, type NodePackage, type PinnedInputs } from './pinned-inputs.ts';

export function inputsFolder(): string {
  return join(projectCache(), 'image-inputs');
}

export function cachedDebian({ sha256 }: DebianPackage): string {
  return join(inputsFolder(), `${sha256}.deb`);
}

export function cachedNode({ name, integrity }: NodePackage): string {
  return join(inputsFolder(), `${name}-${createHash('sha256').update(integrity).digest('hex')}.tgz`);
}

/** Undefined if all packages are in the cache, else why not. Checksums were verified when they were put there. */
export function missingInputs(pins: PinnedInputs): string | undefined {
  const nodes = architectures.map((architecture) => cachedNode(pins.node[architecture]));
  const missing = [...pins.debian.packages.map(cachedDebian), ...nodes].filter((file) => !existsSync(file));
  if (missing.length === 0) return undefined;
  return `${missing.length} packages not found in ${inputsFolder()}: run \`npm run image\` where Debian's mirror and the npm registry can be reached`;
}

/** Throws unless the file has this checksum: a hash in the notation of package-lock.json. */
export function verifyIntegrity(file: string, integrity: string): void {
  const [algorithm = ''] = integrity.split('-', 1);
  const actual = `${algorithm}-${createHash(algorithm).update(readFileSync(file)).digest('base64')}`;
  if (actual !== integrity) throw new Error(`${file}: checksum must be ${integrity} (got ${actual})`);
}

/** The notation of package-lock.json for a SHA-256 in hexadecimal. */
export function integrityOf({ sha256 }: DebianPackage): string {
  return `sha256-${Buffer.from(sha256, 'hex').toString('base64')}`;
}
