import { readFileSync } from 'node:fs';

/** The version in our package.json. Throws when that is not where it belongs: then this is no installation of ours. */
export function ownVersion(): string {
  const manifest: unknown = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'));
  if (typeof manifest === 'object' && manifest !== null && 'version' in manifest) return String(manifest.version);
  throw new Error('package.json names no version');
}

/** How we introduce ourselves to an API server. */
export function userAgent(part: string): string {
  return `node-lifecycle-controller/${ownVersion()} (${process.platform}/${process.arch}) node/${process.versions.node} ${part}`;
}
