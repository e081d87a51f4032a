import manifest from '../../package.json' with { type: 'json' };

/** The version in our package.json; in the bundle it stands in the code. */
export function ownVersion(): string {
  return manifest.version;
}

/** How we introduce ourselves to an API server. */
export function userAgent(part: string): string {
  return `node-lifecycle-controller/${ownVersion()} (${process.platform}/${process.arch}) node/${process.versions.node} ${part}`;
}
